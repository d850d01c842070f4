import { type ClassRole, ClassMembers, type ClassRef } from '@app/people';
import { one, uuid, View } from '../../http/kit.js';

/** What all ways to add somebody to a class have in common. */
export const MEMBER_ADDED = {
  status: 200,
  scope: 'tutors:write' as const,
  example: { user_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
  rules: [ClassMembers] as [typeof ClassMembers],
  answers: one(new View('MemberAddResult', { member_id: uuid('m.id') })),
};

/** @throws Refused for an unknown class or person, and for a member with another role */
export async function addMember(
  members: ClassMembers,
  organizationId: string,
  ref: ClassRef,
  { user_id }: { user_id: string },
  as: ClassRole,
) {
  const { id: member_id, changed } = await members.give(organizationId, ref, user_id, as);
  return { changed, audit: { user_id, member_id }, answer: { member_id } };
}
