import { type ClassRole, ClassMembers, type ClassRef } from '@app/people';
import { ClassChanges } from '@app/teaching';
import { instant, many, one, oneOf, uuid, View } from '../../http/kit.js';

/** What all ways to add somebody to a class have in common. */
export const MEMBER_ADDED = {
  status: 200,
  scope: 'tutors:write' as const,
  example: { user_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
  rules: [ClassChanges] as [typeof ClassChanges],
  answers: one(new View('MemberAddResult', { member_id: uuid('m.id') })),
};

/** The same of taking somebody out of it. */
export const MEMBER_REMOVED = {
  scope: 'tutors:write' as const,
  rules: [ClassChanges] as [typeof ClassChanges],
  answers: null,
};

/** The same of reading who is in it. */
export const MEMBERS = {
  description: 'All of them, those who came first at the top.',
  answer: many(
    new View('ClassMember', {
      member_id: uuid('m.id'),
      user_id: uuid('m.user_id'),
      role: oneOf('m.role', ['teacher', 'tutor', 'student']),
      created_at: instant('m.created_at'),
    }),
  ),
  rules: [ClassMembers] as [typeof ClassMembers],
};

/** @throws Refused for an unknown class or person, and for a member with another role */
export async function addMember(
  changes: ClassChanges,
  organizationId: string,
  ref: ClassRef,
  { user_id }: { user_id: string },
  as: ClassRole,
) {
  const { id: member_id, changed } = await changes.admit(organizationId, ref, user_id, as);
  return { changed, audit: { user_id, member_id }, answer: { member_id } };
}
