import { Injectable } from '@nestjs/common';
import { Places } from '@app/people';
import { Audit, type Caller } from '../../../http/kit.js';

@Injectable()
export class GroupsService {
  constructor(
    private readonly places: Places,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown group or person, and for a member with another role */
  async addMember(
    caller: Caller,
    groupId: string,
    userId: string,
    place: 'tutor' | 'student',
  ): Promise<{ member_id: string }> {
    const memberId = await this.places.give(caller.organizationId, { kind: 'group', id: groupId }, userId, place);
    this.audit.note({ group_id: groupId, user_id: userId, member_id: memberId });
    return { member_id: memberId };
  }
}
