import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database, normalizeEmail, type Tables, visiblePerson } from '@app/database';
import { Refused } from '@app/rules';
import type { NewInvite } from './invites.js';

/** The records that invites lead to. */
@Injectable()
export class InviteTargets {
  constructor(private readonly db: Database) {}

  /**
   * Checks what an invite names, inside the ambient transaction.
   *
   * @throws Refused for an unknown target, and at `email` for the address of an accepted member
   */
  async require(
    organizationId: string,
    { scope, targetId, email }: Pick<NewInvite, 'scope' | 'targetId' | 'email'>,
  ): Promise<void> {
    if (!(await this.has(organizationId, scope, targetId))) throw Refused.notFound();
    if (scope !== 'organization' || !email) return;
    const members = await this.db.query(sql`
      SELECT FROM logins_by_email(${[normalizeEmail(email)]}) l JOIN members m ON m.user_id = l.id
      WHERE m.organization_id = ${organizationId} AND m.status = 'accepted'`);
    if (members.length > 0) throw Refused.invalid('This person is already a member of the organization.', 'email');
  }

  /** Whether the target of such an invite exists, inside the ambient transaction. */
  async has(organizationId: string, scope: Tables['invites']['scope'], id: string): Promise<boolean> {
    const targets: Record<Tables['invites']['scope'], Sql | null> = {
      organization: null,
      classroom: sql`SELECT FROM classrooms WHERE organization_id = ${organizationId} AND id = ${id} AND NOT is_archived`,
      group: sql`SELECT FROM student_groups WHERE organization_id = ${organizationId} AND id = ${id} AND NOT is_archived`,
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
      parent: sql`SELECT ${raw(visiblePerson('m').first_name)} AS name
        FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ${id}`,
    };
    const name = names[scope];
    const [row] = name === null ? [] : await this.db.query<{ name: string | null }>(name);
    return row?.name ?? null;
  }

  /**
   * The children of a parent, inside the ambient transaction. @param named by their first names for whoever holds a link,
   * by both for owners and admins
   */
  async childrenOf(organizationId: string, parentId: string, named: 'first_name' | 'full_name'): Promise<string[]> {
    const rows = await this.db.query<{ name: string | null }>(sql`
      SELECT ${raw(visiblePerson('m')[named])} AS name FROM parent_students l
      JOIN members m ON m.organization_id = l.organization_id AND m.user_id = l.student_id
      LEFT JOIN users u ON u.id = m.user_id
      WHERE l.organization_id = ${organizationId} AND l.parent_id = ${parentId} ORDER BY 1 LIMIT 20`);
    return rows.flatMap(({ name }) => name ?? []);
  }
}
