import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Places } from '@app/people';
import { Database, type Tables } from '@app/database';
import { ApiError, Audit, type Caller } from '../../../http/kit.js';
import { requirePlace } from '../places.js';

@Injectable()
export class GroupsService {
  constructor(
    private readonly db: Database,
    private readonly places: Places,
    private readonly audit: Audit,
  ) {}

  /** @throws ApiError 404 for an unknown group or person; ValidationFailed for a member with another role */
  async addMember(
    caller: Caller,
    groupId: string,
    userId: string,
    place: 'tutor' | 'student',
  ): Promise<{ member_id: string }> {
    const { organizationId } = caller;
    const [member] = await this.db.query<{ role: Tables['members']['role'] }>(sql`
      SELECT m.role FROM student_groups g JOIN members m ON m.organization_id = g.organization_id
      WHERE g.organization_id = ${organizationId} AND g.id = ${groupId}
        AND m.user_id = ${userId} AND m.status = 'accepted'`);
    if (!member) throw ApiError.notFound();
    requirePlace(member.role, place === 'student' ? 'learn' : 'teach');
    const memberId = await this.places.inGroup(organizationId, groupId, userId, place);
    this.audit.note({ group_id: groupId, user_id: userId, member_id: memberId });
    return { member_id: memberId };
  }
}
