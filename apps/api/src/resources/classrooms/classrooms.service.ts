import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Member } from '@app/database';
import type { Caller } from '../../http/auth/caller.js';
import { ApiError } from '../../http/errors/api-error.js';
import { requirePlace } from '../../http/validation/people.js';
import { JsonText } from '../../http/views/json-text.js';
import { Audit } from '../../http/writes/audit.js';
import { classroomMemberView } from './classrooms.view.js';

@Injectable()
export class ClassroomsService {
  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
  ) {}

  /** @throws ApiError 404 for a classroom or person that is not here; ValidationFailed for a member with another role */
  async addMember(caller: Caller, classroomId: string, userId: string, seat: 'teacher' | 'student'): Promise<JsonText> {
    const { organizationId } = caller;
    const [member] = await this.db.query<{ role: Member['role'] }>(sql`
      SELECT m.role FROM classrooms c JOIN members m ON m.organization_id = c.organization_id
      WHERE c.organization_id = ${organizationId} AND c.id = ${classroomId}
        AND m.user_id = ${userId} AND m.status = 'accepted'`);
    if (!member) throw ApiError.notFound();
    requirePlace(member.role, seat === 'student' ? 'learn' : 'teach');
    // One seat for each person: a stale one, from before a change of role, is taken over.
    await this.db.query(sql`
      INSERT INTO classroom_members AS m (id, organization_id, classroom_id, user_id, role)
      VALUES (${uuidv7()}, ${organizationId}, ${classroomId}, ${userId}, ${seat})
      ON CONFLICT (classroom_id, user_id) DO UPDATE SET role = excluded.role WHERE m.role <> excluded.role`);
    const [row] = await this.db.query<{ id: string; data: string }>(sql`
      SELECT m.id, ${classroomMemberView.json} AS data FROM classroom_members m
      WHERE m.organization_id = ${organizationId} AND m.classroom_id = ${classroomId} AND m.user_id = ${userId}`);
    this.audit.note({ classroom_id: classroomId, user_id: userId, member_id: row!.id });
    return new JsonText(row!.data);
  }
}
