import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Refused } from '@app/rules';

/** Who is billed for a student, and how invoices name them; undefined fields stay. */
export interface Billing {
  /** A linked parent; null takes the choice back. */
  parentId?: string | null;
  self?: boolean;
  name?: string | null;
  address?: string | null;
}

/**
 * SQL: the parent who is billed for the student `m` of members: the one who was chosen, or the only one. Null if the student pays, or if several are
 * linked and none was chosen.
 */
export const billingParent = (m: string): string => `CASE WHEN NOT ${m}.bills_self THEN (
    SELECT (array_agg(l.parent_id ORDER BY l.pays DESC))[1] FROM parent_students l
    WHERE l.organization_id = ${m}.organization_id AND l.student_id = ${m}.user_id HAVING count(*) = 1 OR bool_or(l.pays)) END`;

/** Says who is billed, in the ambient transaction. The person is locked. */
@Injectable()
export class Payers {
  constructor(private readonly db: Database) {}

  /** @returns whether anything changed @throws Refused for an unknown student, and a parent who is not linked with them */
  async changeStudent(organizationId: string, id: string, billing: Billing): Promise<boolean> {
    const { parentId } = billing;
    if (Object.values(billing).every((value) => value === undefined)) return false;
    if (typeof parentId === 'string' && billing.self) {
      throw Refused.invalid('Either a parent is billed, or the student.', 'bills_self');
    }
    const self = billing.self ?? (typeof parentId === 'string' ? false : undefined);
    const [stored] = await this.db.query<Stored & { self: boolean }>(sql`
      SELECT bills_self AS self, billing_name AS name, billing_address AS address FROM members
      WHERE organization_id = ${organizationId} AND user_id = ${id} AND role = 'student' FOR NO KEY UPDATE`);
    if (!stored) throw Refused.notFound();
    const wanted = { ...merged(stored, billing), self: self ?? stored.self };
    const named = differs(stored, wanted);
    if (named) {
      await this.db.query(sql`
        UPDATE members SET bills_self = ${wanted.self}, billing_name = ${wanted.name}, billing_address = ${wanted.address}
        WHERE organization_id = ${organizationId} AND user_id = ${id}`);
    }
    const chosen = self === true ? null : parentId;
    return chosen === undefined ? named : (await this.choose(organizationId, id, chosen)) || named;
  }

  /** @returns whether anything changed @throws Refused for an unknown parent */
  async changeParent(organizationId: string, id: string, billing: Billing): Promise<boolean> {
    if (Object.values(billing).every((value) => value === undefined)) return false;
    const [stored] = await this.db.query<Stored>(sql`
      SELECT billing_name AS name, billing_address AS address FROM parents
      WHERE organization_id = ${organizationId} AND user_id = ${id} AND enrolled_at IS NOT NULL FOR NO KEY UPDATE`);
    if (!stored) throw Refused.notFound();
    const wanted = merged(stored, billing);
    if (!differs(stored, wanted)) return false;
    await this.db.query(sql`
      UPDATE parents SET billing_name = ${wanted.name}, billing_address = ${wanted.address}
      WHERE organization_id = ${organizationId} AND user_id = ${id}`);
    return true;
  }

  /** Says whether somebody is reminded of invoices, whichever way they pay. @returns whether anything changed @throws Refused for an unknown person */
  async spare(organizationId: string, id: string, spared: boolean): Promise<boolean> {
    const [known] = await this.db.query(sql`
      SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id} AND role = 'student' UNION ALL
      SELECT FROM parents WHERE organization_id = ${organizationId} AND user_id = ${id} AND enrolled_at IS NOT NULL`);
    if (!known) throw Refused.notFound();
    const others = sql`organization_id = ${organizationId} AND user_id = ${id} AND no_reminders <> ${spared}`;
    const members = await this.db.count(sql`UPDATE members SET no_reminders = ${spared} WHERE ${others}`);
    const parents = await this.db.count(sql`UPDATE parents SET no_reminders = ${spared} WHERE ${others}`);
    return members + parents > 0;
  }

  private async choose(organizationId: string, studentId: string, parentId: string | null): Promise<boolean> {
    const links = await this.db.query<{ parent: string; pays: boolean }>(sql`
      SELECT parent_id AS parent, pays FROM parent_students WHERE organization_id = ${organizationId} AND student_id = ${studentId}
      ORDER BY parent_id FOR NO KEY UPDATE`);
    if (parentId !== null && !links.some(({ parent }) => parent === parentId)) throw Refused.notFound();
    const changes = links.filter(({ parent, pays }) => pays !== (parent === parentId));
    // Whoever was chosen is so no longer before another is: there is one at most.
    for (const { parent, pays } of changes.sort((one, other) => Number(other.pays) - Number(one.pays))) {
      await this.db.query(sql`
        UPDATE parent_students SET pays = ${!pays}
        WHERE organization_id = ${organizationId} AND student_id = ${studentId} AND parent_id = ${parent}`);
    }
    return changes.length > 0;
  }
}

type Stored = Record<'name' | 'address', string | null>;

const merged = (stored: Stored, { name = stored.name, address = stored.address }: Partial<Stored>): Stored => ({
  name,
  address,
});

const differs = <T extends object>(stored: T, wanted: T): boolean =>
  (Object.keys(stored) as (keyof T)[]).some((key) => stored[key] !== wanted[key]);
