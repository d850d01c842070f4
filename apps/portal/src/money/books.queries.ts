import sql, { type Sql } from 'sql-template-tag';
import { memberName, payerName } from './invoices.queries.js';

/** A line of a file. Columns whose names end with `_cents` are written as decimals. */
export type BookRow = Record<string, string | null>;

/** The most rows of a file; the latest ones. */
const MOST = 20_000;

const zone = (organizationId: string): Sql => sql`(SELECT time_zone FROM organizations WHERE id = ${organizationId})`;

/** What was issued from one day to another. Imported invoices may only say when they were made. */
export function invoicesBetween(organizationId: string, since: string, until: string): Sql {
  const issued = sql`(coalesce(sent_at, created_at) AT TIME ZONE ${zone(organizationId)})::date`;
  return sql`
    SELECT to_char(i.issued, 'YYYY-MM') AS month, to_char(i.issued, 'YYYY-MM-DD') AS issued_on, i.invoice_number AS number,
      i.id AS invoice_id, i.student_id, ${memberName(organizationId, sql`i.student_id`)} AS student, i.status,
      to_char(i.due_date, 'YYYY-MM-DD') AS due_on, i.amount_due_cents::text AS amount_cents,
      i.amount_paid_cents::text AS paid_cents, i.currency
    FROM (SELECT *, ${issued} AS issued FROM invoices WHERE organization_id = ${organizationId} AND status <> 'draft'
      AND ${issued} BETWEEN ${since}::date AND ${until}::date
      ORDER BY issued DESC, id DESC LIMIT ${MOST}) i ORDER BY i.issued, i.id`;
}

/** What was received from one day to another. */
export function paymentsBetween(organizationId: string, since: string, until: string): Sql {
  const received = sql`coalesce(received_on, (created_at AT TIME ZONE ${zone(organizationId)})::date)`;
  return sql`
    SELECT to_char(p.received, 'YYYY-MM') AS month, to_char(p.received, 'YYYY-MM-DD') AS received_on, p.id AS payment_id,
      coalesce(p.student_id, p.parent_id) AS payer_id, ${payerName(organizationId)} AS payer, p.payment_type AS type, p.status,
      p.amount_cents::text AS amount_cents, coalesce(p.refund_amount_cents, 0)::text AS refunded_cents,
      p.credit_cents::text AS credit_cents, p.currency
    FROM (SELECT *, ${received} AS received FROM payments WHERE organization_id = ${organizationId}
      AND ${received} BETWEEN ${since}::date AND ${until}::date
      ORDER BY received DESC, id DESC LIMIT ${MOST}) p ORDER BY p.received, p.id`;
}
