import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Places } from '@app/people';
import { Audit, type Caller, type JsonText, Records, Source } from '../../../http/kit.js';
import { studentGroupView } from './groups.view.js';

const GROUPS = new Source('student_groups', 'g');

/** Groups that the organization owns, and groups without an owner whose tutor belongs only to this organization. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly records: Records,
    private readonly places: Places,
    private readonly audit: Audit,
  ) {}

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.records.get(caller, studentGroupView, GROUPS, sql`g.id = ${id}`);
  }

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
