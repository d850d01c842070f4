import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Member } from '@app/database';
import type { Caller } from '../../http/auth/caller.js';
import { ApiError } from '../../http/errors/api-error.js';
import { Lists } from '../../http/lists/lists.js';
import { Source } from '../../http/lists/source.js';
import { requirePlace } from '../../http/validation/people.js';
import { JsonText } from '../../http/views/json-text.js';
import { Audit } from '../../http/writes/audit.js';
import { groupMemberView, studentGroupView } from './groups.view.js';

const GROUPS = new Source('student_groups', 'g');

/** Groups that the organization owns, and groups that nobody owns of a tutor with this organization only. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly lists: Lists,
    private readonly db: Database,
    private readonly audit: Audit,
  ) {}

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.lists.record(caller, studentGroupView, GROUPS, sql`g.id = ${id}`);
  }

  /** @throws ApiError 404 for a group or person that is not here; ValidationFailed for a member with another role */
  async addMember(caller: Caller, groupId: string, userId: string, place: 'tutor' | 'student'): Promise<JsonText> {
    const { organizationId } = caller;
    const [member] = await this.db.query<{ role: Member['role'] }>(sql`
      SELECT m.role FROM student_groups g JOIN members m ON m.organization_id = g.organization_id
      WHERE g.organization_id = ${organizationId} AND g.id = ${groupId}
        AND m.user_id = ${userId} AND m.status = 'accepted'`);
    if (!member) throw ApiError.notFound();
    requirePlace(member.role, place === 'student' ? 'learn' : 'teach');
    // One place for each person: a stale one, from before a change of role, is taken over.
    const changed = await this.db.query(sql`
      INSERT INTO student_group_members AS m (id, group_id, user_id, role)
      VALUES (${uuidv7()}, ${groupId}, ${userId}, ${place})
      ON CONFLICT (group_id, user_id) DO UPDATE SET role = excluded.role WHERE m.role <> excluded.role
      RETURNING m.id`);
    if (changed.length > 0) {
      // student_ids is part of the group's record.
      await this.db.query(sql`
        UPDATE student_groups SET updated_at = now() WHERE organization_id = ${organizationId} AND id = ${groupId}`);
    }
    const [row] = await this.db.query<{ id: string; data: string }>(sql`
      SELECT m.id, ${groupMemberView.json} AS data FROM student_group_members m
      WHERE m.group_id = ${groupId} AND m.user_id = ${userId}`);
    this.audit.note({ group_id: groupId, user_id: userId, member_id: row!.id });
    return new JsonText(row!.data);
  }
}
