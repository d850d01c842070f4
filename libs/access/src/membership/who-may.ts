import type { Tables } from '@app/database';
import { Refused } from '@app/rules';

export type Role = Tables['members']['role'];

/** Who changes somebody's membership. */
export type Principal =
  | { kind: 'operator' }
  /** An API key. */
  | { kind: 'key' }
  /** A signed-in person: their role, and whether the membership is their own. */
  | { kind: 'person'; role: Role | null; self: boolean };

export const isManager = (role: Role | null): boolean => role === 'owner' || role === 'admin';

const ONLY_OWNERS = 'Only an owner can remove an owner or an admin.';
const NOT_BY_KEY = 'API keys cannot remove owners and admins. An owner can, in the portal.';

/**
 * Owners end anybody's membership; admins those of tutors, students and parents, as does a key; everybody their own.
 *
 * @param role of the member; null for a parent who is no member
 * @throws Refused
 */
export function requireMayEnd(by: Principal, role: Role | null): void {
  if (by.kind === 'operator' || (by.kind === 'person' && by.self)) return;
  if (by.kind === 'key') {
    if (isManager(role)) throw Refused.conflict('is_manager', NOT_BY_KEY);
    return;
  }
  if (!isManager(by.role)) throw Refused.notFound();
  if (isManager(role) && by.role !== 'owner') throw Refused.conflict('is_manager', ONLY_OWNERS);
}

/**
 * Roles are changed by owners and the operator, between those of staff.
 *
 * @throws Refused
 */
export function requireMayChangeRole(by: Principal, from: Role, to: Role): void {
  if (by.kind !== 'operator' && (by.kind !== 'person' || by.role !== 'owner')) throw Refused.notFound();
  if (from === 'student' || to === 'student')
    throw Refused.invalid('A student stays a student. Invite them with another address instead.', 'role');
}
