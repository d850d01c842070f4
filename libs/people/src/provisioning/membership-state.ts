import type { Tables } from '@app/database';
import type { Login } from './logins.js';

/**
 * `new`: to be added; `pending` until the person consents, if other organizations know the login; `returning`: was archived here; `again`: asked
 * before and not answered yet; `exists`: already has this membership
 */
export type MembershipState =
  | { as: 'new' | 'returning'; status: 'accepted' | 'pending' }
  | { as: 'again' | 'exists' }
  | { as: 'refused'; reason: string };

const PARENT_OF_HERE = 'This address belongs to a parent in this organization, who cannot also be a student.';
const STUDENT_OF_HERE = 'This address belongs to a student in this organization, who cannot also be a parent.';

/** As a member with this role; without a login, one is created. */
export function stateAsMember(role: Tables['members']['role'], login: Login | undefined): MembershipState {
  if (!login) return { as: 'new', status: 'accepted' };
  const { member, parent } = login;
  if (member && member.role !== role) return { as: 'refused', reason: takenAs(member.role) };
  if (member?.status === 'accepted') return { as: 'exists' };
  if (member?.status === 'pending') return { as: 'again' };
  if (member) return { as: 'returning', status: member.mayReturn ? 'accepted' : 'pending' };
  if (parent && role === 'student') return { as: 'refused', reason: PARENT_OF_HERE };
  return { as: 'new', status: parent?.status === 'accepted' ? 'accepted' : 'pending' };
}

/** As a parent. Staff may be parents too. */
export function stateAsParent(login: Login | undefined): MembershipState {
  if (!login) return { as: 'new', status: 'accepted' };
  const { member, parent } = login;
  if (member?.role === 'student') return { as: 'refused', reason: STUDENT_OF_HERE };
  if (parent?.status === 'accepted') return { as: 'exists' };
  if (parent?.status === 'pending') return { as: 'again' };
  if (parent) return { as: 'returning', status: parent.mayReturn ? 'accepted' : 'pending' };
  return { as: 'new', status: member?.status === 'accepted' ? 'accepted' : 'pending' };
}

function takenAs(role: string): string {
  const article = /^[aeiou]/.test(role) ? 'an' : 'a';
  return `This address belongs to ${article} ${role} in this organization, and nobody can have two roles in one organization.`;
}
