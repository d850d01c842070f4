import sql from 'sql-template-tag';
import type { Database, Tables } from '@app/database';
import { Refused } from '@app/rules';

type Role = Tables['members']['role'];

/** Who may teach. */
export const STAFF: readonly Role[] = ['tutor', 'admin', 'owner'];

/**
 * Tutors, admins and owners teach; students learn.
 *
 * @throws Refused at this place for a member with another role
 */
export function requireRole(role: Role, to: 'teach' | 'learn', ...at: (string | number)[]): void {
  if (STAFF.includes(role) === (to === 'teach')) return;
  const reason =
    to === 'teach'
      ? 'This member is a student here. Choose a tutor or an admin.'
      : 'This member is not a student here. Choose a student.';
  throw Refused.invalid(reason, ...at);
}

/**
 * Holds whoever acts as an owner or admin inside the ambient transaction: their removal comes after the act, or before it
 * and nothing is done. A page lets people in before that.
 *
 * @throws Refused for a person who does not manage the organization (any more)
 */
export async function requireManager(
  db: Database,
  organizationId: string,
  { userId }: { userId: string | null },
): Promise<void> {
  if (userId === null) return;
  const [manager] = await db.query(sql`
    SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'accepted'
      AND role IN ('owner', 'admin') FOR SHARE`);
  if (!manager) throw Refused.notFound();
}

/** The owner in whose name the organization acts if nobody is named: the first one; null if there is none. */
export async function firstOwner(db: Database, organizationId: string): Promise<string | null> {
  const [owner] = await db.query<{ id: string }>(sql`
    SELECT user_id AS id FROM members WHERE organization_id = ${organizationId} AND role = 'owner' AND status = 'accepted'
    ORDER BY created_at, user_id LIMIT 1`);
  return owner?.id ?? null;
}
