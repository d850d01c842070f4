import sql from 'sql-template-tag';
import { AuditLog, OPERATOR } from '@app/audit';
import { Completion, Payments } from '@app/billing';
import { Database } from '@app/database';
import type { Rules } from '../rules.js';

/** What the family has paid beyond its invoices (cents). */
const CREDIT = 5_000;

/** The most lessons to complete: a large demo has more than are worth the time. */
const MOST_HELD = 20;

/** Whether what the demo records has been recorded, which is the last step of loading it. */
export async function isRecorded(db: Database, organizationId: string): Promise<boolean> {
  const found = await db.transaction({ organizationId }, () =>
    db.query(sql`SELECT FROM payments WHERE organization_id = ${organizationId} AND recorded LIMIT 1`),
  );
  return found.length > 0;
}

/**
 * An import is history, and brings neither credit nor collecting drafts. So the demo records, once and like the API, that the
 * family that owes the most has paid more than that, and that of the lessons that nobody has completed the oldest one and those of
 * today were held.
 */
export async function record(rules: Rules, organizationId: string): Promise<void> {
  const db = rules.get(Database);
  if (await isRecorded(db, organizationId)) return;
  const audit = rules.get(AuditLog);
  await db.transaction({ organizationId }, async () => {
    const held = await db.query<{ id: string }>(sql`
      SELECT s.id FROM (SELECT *, row_number() OVER (ORDER BY starts_at, id) AS place FROM sessions
          WHERE organization_id = ${organizationId} AND status = 'scheduled' AND ends_at < now()) s
      JOIN organizations o ON o.id = s.organization_id
      WHERE s.place = 1 OR (s.starts_at AT TIME ZONE o.time_zone)::date = (now() AT TIME ZONE o.time_zone)::date
      ORDER BY s.place LIMIT ${MOST_HELD}`);
    for (const { id } of held) {
      await rules.get(Completion).complete(organizationId, id, []);
      await audit.add(organizationId, OPERATOR, 'PUT /v1/sessions/:session_id/complete', { session_id: id });
    }
    const [family] = await db.query<{ parentId: string; owed: string }>(sql`
      SELECT l.parent_id AS "parentId", coalesce(sum(i.amount_due_cents - i.amount_paid_cents), 0) AS owed FROM parent_students l
      JOIN parents p ON p.organization_id = l.organization_id AND p.user_id = l.parent_id
      LEFT JOIN invoices i ON i.organization_id = l.organization_id AND i.student_id = l.student_id AND i.status = 'open'
      WHERE l.organization_id = ${organizationId}
      GROUP BY l.parent_id, p.status ORDER BY p.status = 'accepted' DESC, 2 DESC, 1 LIMIT 1`);
    const payment_id = await rules.get(Payments).record(organizationId, {
      payer: { parentId: family!.parentId },
      amountCents: Number(family!.owed) + CREDIT,
      type: 'bank_transfer',
      currency: null,
      invoiceId: null,
      sessionId: null,
      receivedOn: null,
    });
    await audit.add(organizationId, OPERATOR, 'POST /v1/payments', { payment_id });
  });
}
