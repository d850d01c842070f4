import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Places } from '@app/people';
import { Database, type Tables } from '@app/database';
import { ApiError, Audit, type Caller } from '../../../http/kit.js';
import { requirePlace } from '../places.js';

@Injectable()
export class ClassroomsService {
  constructor(
    private readonly db: Database,
    private readonly places: Places,
    private readonly audit: Audit,
  ) {}

  /** @throws ApiError 404 for an unknown classroom or person; ValidationFailed for a member with another role */
  async addMember(
    caller: Caller,
    classroomId: string,
    userId: string,
    seat: 'teacher' | 'student',
  ): Promise<{ member_id: string }> {
    const { organizationId } = caller;
    const [member] = await this.db.query<{ role: Tables['members']['role'] }>(sql`
      SELECT m.role FROM classrooms c JOIN members m ON m.organization_id = c.organization_id
      WHERE c.organization_id = ${organizationId} AND c.id = ${classroomId}
        AND m.user_id = ${userId} AND m.status = 'accepted'`);
    if (!member) throw ApiError.notFound();
    requirePlace(member.role, seat === 'student' ? 'learn' : 'teach');
    const memberId = await this.places.inClassroom(organizationId, classroomId, userId, seat);
    this.audit.note({ classroom_id: classroomId, user_id: userId, member_id: memberId });
    return { member_id: memberId };
  }
}
