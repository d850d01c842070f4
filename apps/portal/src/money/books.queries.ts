import sql, { type Sql } from 'sql-template-tag';
import { memberName, payerName } from './invoices.queries.js';

/** A line of a file. Columns whose names end with `_cents` are written as decimals. */
export type BookRow = Record<string, string | null>;

/** The most rows of a file; the latest ones. */
const MOST = 20_000;

const zone = (organizationId: string): Sql => sql`(SELECT time_zone FROM organizations WHERE id = ${organizationId})`;

/** The day of issue. Imported invoices may only say when they were made. */
const issued = (organizationId: string): Sql =>
  sql`(coalesce(sent_at, created_at) AT TIME ZONE ${zone(organizationId)})::date`;

/** The day of receipt. */
export const received = (organizationId: string): Sql =>
  sql`coalesce(received_on, (created_at AT TIME ZONE ${zone(organizationId)})::date)`;

/** Xero takes so many invoices of a file. */
export const MOST_FOR_XERO = 500;

/** What a file lists. */
export interface Book {
  name: string;
  columns: string[];
  /** In order, from one day to another. */
  ids: (organizationId: string, since: string, until: string) => Sql;
  /** In the order of the ids. */
  rows: (organizationId: string, ids: string[]) => Sql;
}

export const INVOICES: Book = {
  name: 'invoices',
  columns: [
    'month', 'issued_on', 'number', 'invoice_id', 'student_id', 'student', 'status', 'due_on', 'amount', 'paid', 'currency',
  ], // prettier-ignore
  ids: (organizationId, since, until) => sql`
    SELECT id FROM (SELECT id, ${issued(organizationId)} AS day FROM invoices
      WHERE organization_id = ${organizationId} AND status <> 'draft'
        AND ${issued(organizationId)} BETWEEN ${since}::date AND ${until}::date
      ORDER BY day DESC, id DESC LIMIT ${MOST}) i ORDER BY day, id`,
  rows: (organizationId, ids) => sql`
    SELECT to_char(i.day, 'YYYY-MM') AS month, to_char(i.day, 'YYYY-MM-DD') AS issued_on, i.invoice_number AS number,
      i.id AS invoice_id, i.student_id, ${memberName(organizationId, sql`i.student_id`)} AS student, i.status,
      to_char(i.due_date, 'YYYY-MM-DD') AS due_on, i.amount_due_cents::text AS amount_cents,
      i.amount_paid_cents::text AS paid_cents, i.currency
    FROM (SELECT *, ${issued(organizationId)} AS day FROM invoices
      WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])) i ORDER BY i.day, i.id`,
};

export const PAYMENTS: Book = {
  name: 'payments',
  columns: [
    'month', 'received_on', 'payment_id', 'payer_id', 'payer', 'type', 'status', 'amount', 'refunded', 'credit', 'currency',
  ], // prettier-ignore
  ids: (organizationId, since, until) => sql`
    SELECT id FROM (SELECT id, ${received(organizationId)} AS day FROM payments
      WHERE organization_id = ${organizationId} AND taken_back_at IS NULL
        AND ${received(organizationId)} BETWEEN ${since}::date AND ${until}::date
      ORDER BY day DESC, id DESC LIMIT ${MOST}) p ORDER BY day, id`,
  rows: (organizationId, ids) => sql`
    SELECT to_char(p.day, 'YYYY-MM') AS month, to_char(p.day, 'YYYY-MM-DD') AS received_on, p.id AS payment_id,
      coalesce(p.student_id, p.parent_id) AS payer_id, ${payerName(organizationId)} AS payer, p.payment_type AS type, p.status,
      p.amount_cents::text AS amount_cents, coalesce(p.refund_amount_cents, 0)::text AS refunded_cents,
      p.credit_cents::text AS credit_cents, p.currency
    FROM (SELECT *, ${received(organizationId)} AS day FROM payments
      WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])) p ORDER BY p.day, p.id`,
};

/**
 * A row for each line of an invoice, in the columns that Xero imports sales from. Prices include tax, which Xero asks about; the account is the one that
 * it begins with for sales. Void invoices are not in it: whoever brought one there before voids it there.
 */
export const XERO: Book = {
  name: 'xero-invoices',
  columns: [
    '*ContactName', '*InvoiceNumber', '*InvoiceDate', '*DueDate', '*Description', '*Quantity', '*UnitAmount', '*AccountCode', '*TaxType',
  ], // prettier-ignore
  ids: (organizationId, since, until) => sql`
    SELECT id FROM (SELECT id, ${issued(organizationId)} AS day FROM invoices
      WHERE organization_id = ${organizationId} AND status NOT IN ('draft', 'void')
        AND ${issued(organizationId)} BETWEEN ${since}::date AND ${until}::date
      ORDER BY day DESC, id DESC LIMIT ${MOST_FOR_XERO}) i ORDER BY day, id`,
  rows: (organizationId, ids) => sql`
    SELECT coalesce(CASE WHEN NOT i.person_erased THEN i.snapshot #>> '{buyer,name}' END, ${memberName(organizationId, sql`i.student_id`)}) AS "*ContactName",
      i.invoice_number AS "*InvoiceNumber", to_char(i.day, 'DD/MM/YYYY') AS "*InvoiceDate",
      to_char(coalesce(i.due_date, i.day), 'DD/MM/YYYY') AS "*DueDate", coalesce(nullif(trim(l.description), ''), 'Something') AS "*Description",
      l.quantity::text AS "*Quantity", l.unit_amount_cents::text AS "*UnitAmount_cents", '200' AS "*AccountCode",
      CASE WHEN NOT coalesce(i.snapshot @> '{"tax": {"registered": true}}', false) THEN 'BAS Excluded'
        WHEN l.tax = 'free' THEN 'GST Free Income' ELSE 'GST on Income' END AS "*TaxType"
    FROM (SELECT *, ${issued(organizationId)} AS day FROM invoices
      WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])) i
    JOIN invoice_lines l ON l.organization_id = ${organizationId} AND l.invoice_id = i.id ORDER BY i.day, i.id, l.position`,
};
