import { type PlaceRole, Places, type Room } from '@app/people';
import { one, uuid, View } from '../../http/kit.js';

/** What all ways to add somebody to a room have in common. */
export const MEMBER_ADDED = {
  status: 200,
  scope: 'tutors:write' as const,
  example: { user_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
  rules: [Places] as [typeof Places],
  answers: one(new View('MemberAddResult', { member_id: uuid('m.id') })),
};

/** @throws Refused for an unknown room or person, and for a member with another role */
export async function addMember(
  places: Places,
  organizationId: string,
  room: Room,
  { user_id }: { user_id: string },
  as: PlaceRole,
) {
  const { id: member_id, changed } = await places.give(organizationId, room, user_id, as);
  return { changed, audit: { user_id, member_id }, answer: { member_id } };
}
