import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';

/** Which parents belong to which students of an organization. */
@Injectable()
export class Families {
  constructor(private readonly db: Database) {}

  /** Locks both, and the parent's row: of two links to a child, the later does not wait for the earlier with half of it written. */
  async lock(organizationId: string, parentId: string, studentId: string): Promise<void> {
    await this.db.lockPeople(organizationId, [parentId, studentId]);
    await this.db.query(sql`
      SELECT FROM parents WHERE organization_id = ${organizationId} AND user_id = ${parentId} FOR NO KEY UPDATE`);
  }

  /**
   * Links inside the ambient transaction. A parent who has left comes back with it, and has to accept again if they have used
   * their login.
   *
   * @returns false if one of the two is missing, the student has left, or the link exists
   */
  async link(organizationId: string, parentId: string, studentId: string): Promise<boolean> {
    await this.lock(organizationId, parentId, studentId);
    await this.db.query(sql`
      UPDATE parents p SET status = CASE WHEN p.frozen_at IS NULL OR must_accept(p.user_id) THEN 'pending' ELSE 'accepted' END
      WHERE p.organization_id = ${organizationId} AND p.user_id = ${parentId} AND p.status <> 'accepted' AND (p.status = 'archived' OR p.frozen_at IS NOT NULL)
        AND EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${studentId}
          AND m.role = 'student' AND m.status <> 'archived' AND m.user_id <> p.user_id)`);
    const linked = await this.db.count(sql`
      INSERT INTO parent_students (organization_id, parent_id, student_id)
      SELECT p.organization_id, p.user_id, m.user_id
      FROM parents p JOIN members m ON m.organization_id = p.organization_id
      WHERE p.organization_id = ${organizationId} AND p.user_id = ${parentId} AND m.user_id = ${studentId}
        AND m.role = 'student' AND m.status <> 'archived' AND p.user_id <> m.user_id
      ON CONFLICT DO NOTHING`);
    return linked > 0;
  }
}
