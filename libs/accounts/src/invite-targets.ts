import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, type Invite } from '@app/database';

/** What invites lead to. */
@Injectable()
export class InviteTargets {
  constructor(private readonly db: Database) {}

  /** Whether the target of such an invite is there, inside the ambient transaction. */
  async has(organizationId: string, scope: Invite['scope'], id: string): Promise<boolean> {
    const targets: Record<Invite['scope'], Sql | null> = {
      organization: null,
      classroom: sql`SELECT FROM classrooms WHERE organization_id = ${organizationId} AND id = ${id}`,
      group: sql`SELECT FROM student_groups WHERE organization_id = ${organizationId} AND id = ${id}`,
      tutor_student: sql`SELECT FROM tutor_profiles t JOIN members m USING (organization_id, user_id)
        WHERE organization_id = ${organizationId} AND user_id = ${id} AND m.status = 'accepted'`,
      parent: sql`SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id}
        AND role = 'student' AND status <> 'archived'`,
      account: sql`SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id}
        UNION ALL SELECT FROM parents WHERE organization_id = ${organizationId} AND user_id = ${id}`,
    };
    const target = targets[scope];
    return target === null || (await this.db.query(target)).length > 0;
  }
}
