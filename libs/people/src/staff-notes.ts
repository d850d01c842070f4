import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { Database } from '@app/database';
import { Refused } from '@app/rules';

/** SQL: which text the notes on the student `m` of members are, so that nobody overwrites what they have not seen. */
export const STAFF_NOTES_VERSION = `md5(coalesce(m.staff_notes, ''))`;

const CHANGED =
  'Somebody else has changed these notes meanwhile. What is saved now is above: add to yours what is missing, and save again.';

/** What an organization notes about a student, for its owners and admins alone. */
@Injectable()
export class StaffNotes {
  constructor(private readonly db: Database) {}

  /**
   * Writes them, inside the ambient transaction. @param version of those that were shown @returns whether anything changed
   * @throws Refused for an unknown student, and if somebody else has changed them
   */
  async write(organizationId: string, studentId: string, notes: string | null, version: string): Promise<boolean> {
    const [stored] = await this.db.query<{ notes: string | null; version: string }>(sql`
      SELECT m.staff_notes AS notes, ${raw(STAFF_NOTES_VERSION)} AS version FROM members m
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${studentId} AND m.role = 'student' FOR NO KEY UPDATE`);
    if (!stored) throw Refused.notFound();
    if (stored.notes === notes) return false;
    if (stored.version !== version) throw Refused.invalid(CHANGED, 'staff_notes');
    await this.db.query(sql`
      UPDATE members SET staff_notes = ${notes} WHERE organization_id = ${organizationId} AND user_id = ${studentId}`);
    return true;
  }
}
