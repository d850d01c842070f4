import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';

/** Which parents belong to which students of an organization. */
@Injectable()
export class Families {
  constructor(private readonly db: Database) {}

  /** Links inside the ambient transaction; no effect if one of the two is missing or the link exists. */
  async link(organizationId: string, parentId: string, studentId: string): Promise<void> {
    await this.db.query(sql`
      INSERT INTO parent_students (organization_id, parent_id, student_id)
      SELECT p.organization_id, p.user_id, m.user_id
      FROM parents p JOIN members m ON m.organization_id = p.organization_id
      WHERE p.organization_id = ${organizationId} AND p.user_id = ${parentId} AND m.user_id = ${studentId}
        AND m.role = 'student' AND p.user_id <> m.user_id
      ON CONFLICT DO NOTHING`);
  }
}
