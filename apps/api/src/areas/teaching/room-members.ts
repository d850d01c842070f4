import { Injectable } from '@nestjs/common';
import { type PlaceRole, Places, type Room } from '@app/people';
import { Audit, type Caller, uuid, View } from '../../http/kit.js';

export const memberAddView = new View('MemberAddResult', { member_id: uuid('m.id') });

/** Adds members of the organization to its classrooms and groups. */
@Injectable()
export class RoomMembers {
  constructor(
    private readonly places: Places,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown room or person, and for a member with another role */
  async add(caller: Caller, room: Room, userId: string, as: PlaceRole): Promise<{ member_id: string }> {
    const { id: memberId, changed } = await this.places.give(caller.organizationId, room, userId, as);
    this.audit.note({ [`${room.kind}_id`]: room.id, user_id: userId, member_id: memberId }, changed);
    return { member_id: memberId };
  }
}
