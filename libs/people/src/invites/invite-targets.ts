import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, type Tables } from '@app/database';

/** The records that invites lead to. */
@Injectable()
export class InviteTargets {
  constructor(private readonly db: Database) {}

  /** Whether the target of such an invite exists, inside the ambient transaction. */
  async has(organizationId: string, scope: Tables['invites']['scope'], id: string): Promise<boolean> {
    const targets: Record<Tables['invites']['scope'], Sql | null> = {
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

  /**
   * The name of an invite's target for its page, inside the ambient transaction: a classroom, a group, a tutor, or a
   * child's first name. null when there is nothing to show.
   */
  async nameOf(organizationId: string, scope: Tables['invites']['scope'], id: string): Promise<string | null> {
    const names: Record<Tables['invites']['scope'], Sql | null> = {
      organization: null,
      account: null,
      classroom: sql`SELECT name FROM classrooms WHERE organization_id = ${organizationId} AND id = ${id}`,
      group: sql`SELECT name FROM student_groups WHERE organization_id = ${organizationId} AND id = ${id}`,
      tutor_student: sql`SELECT u.first_name || ' ' || u.last_name AS name FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ${id} AND m.status = 'accepted'`,
      // Whoever has the code knows the child; nobody else may learn who it is.
      parent: sql`SELECT CASE WHEN m.accepted_at IS NULL THEN m.supplied_first_name ELSE u.first_name END AS name
        FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ${id}`,
    };
    const name = names[scope];
    const [row] = name === null ? [] : await this.db.query<{ name: string | null }>(name);
    return row?.name ?? null;
  }
}
