import sql, { type Sql } from 'sql-template-tag';
import { type Database, IS_STAFF, MANAGES, type Tables, VALUES } from '@app/database';
import { Refused } from '@app/rules';

type Role = Tables['members']['role'];

/** Who may teach: the roles of `IS_STAFF`. */
export const STAFF = VALUES.members.role.filter((role) => role !== 'student');
export type StaffRole = (typeof STAFF)[number];

/** Whom a column of this name names, in every table: one who teaches, or one who learns. */
export const NAMED: Readonly<Record<string, 'teach' | 'learn'>> = {
  tutor_id: 'teach',
  assigned_tutor_id: 'teach',
  subject_tutor_id: 'teach',
  assigned_by: 'teach',
  created_by: 'teach',
  author_id: 'teach',
  student_id: 'learn',
};

/**
 * Tutors, admins and owners teach; students learn.
 *
 * @throws Refused at this place for a member with another role
 */
export function requireRole(role: Role, to: 'teach' | 'learn', ...at: (string | number)[]): void {
  if ((role !== 'student') === (to === 'teach')) return;
  const reason =
    to === 'teach'
      ? 'This member is a student here. Choose a tutor or an admin.'
      : 'This member is not a student here. Choose a student.';
  throw Refused.invalid(reason, ...at);
}

/**
 * What an owner or admin does, in one transaction that locks them: their removal comes after it, or before it and nothing is
 * done. A page lets people in before that. API keys and the operator, who are no persons, are not looked up.
 *
 * @param first takes locks that come before that on the manager
 * @throws Refused for a person who does not manage the organization (any more)
 */
export function asManager<T>(
  db: Database,
  organizationId: string,
  { userId }: { userId: string | null },
  work: () => Promise<T>,
  first?: () => Promise<void>,
): Promise<T> {
  return db.transaction({ organizationId }, async () => {
    await first?.();
    if (userId !== null) await lockAs(db, organizationId, userId, sql`${MANAGES}`);
    return work();
  });
}

/** What somebody who teaches does for themselves, likewise. @throws Refused for a person who does not teach here (any more) */
export function asTeacher<T>(
  db: Database,
  organizationId: string,
  { userId }: { userId: string | null },
  work: () => Promise<T>,
): Promise<T> {
  return db.transaction({ organizationId }, async () => {
    await lockAs(db, organizationId, userId!, sql`${IS_STAFF}`);
    return work();
  });
}

async function lockAs(db: Database, organizationId: string, userId: string, role: Sql): Promise<void> {
  const [, [member]] = await Promise.all([
    db.lockPeople(organizationId, [userId]),
    db.query(sql`
      SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'accepted' AND ${role}`),
  ]);
  if (!member) throw Refused.notFound();
}

/** The owner in whose name the organization acts if nobody is named: the first one; null if there is none. */
export async function firstOwner(db: Database, organizationId: string): Promise<string | null> {
  const [owner] = await db.query<{ id: string }>(sql`
    SELECT user_id AS id FROM members WHERE organization_id = ${organizationId} AND role = 'owner' AND status = 'accepted'
    ORDER BY created_at, user_id LIMIT 1`);
  return owner?.id ?? null;
}
