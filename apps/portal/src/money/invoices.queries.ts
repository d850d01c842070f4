import sql, { empty, join, type Sql } from 'sql-template-tag';
import { behind } from '@app/database';
import { shownName } from '@app/people';
import { FILTERS, type InvoiceFilter, type InvoiceState, numbersMeant, STATES } from './invoices.filter.js';

/** An invoice as lists show it. Amounts are cents, days YYYY-MM-DD. */
export interface InvoiceRow {
  id: string;
  number: string | null;
  student_id: string;
  student: string | null;
  state: InvoiceState;
  due: number;
  paid: number;
  due_date: string | null;
  /** When it was issued; of imported ones it may be unknown. */
  sent_at: Date | null;
  created_at: Date;
}

export interface InvoiceDetails extends InvoiceRow {
  paid_at: Date | null;
  /** Of one that was issued here. */
  billed_to: string | null;
  tax: number | null;
  /** Null if no tax was charged. */
  tax_label: string | null;
  /** Only owners are shown whom it was billed to. */
  person_erased: boolean;
  /** The number of the note that takes a void one back. */
  note: string | null;
  sent_to: string | null;
  mailed_at: Date | null;
}

/** The last mail with an invoice. */
export interface MailRow {
  status: string;
  problem: string | null;
  due_at: Date;
}

export interface LineRow {
  id: string;
  description: string | null;
  quantity: number;
  unit: number;
  amount: number;
  /** The lesson that brought it. */
  lesson_id: string | null;
  /** Null on a draft, unless somebody said it. */
  tax: 'taxable' | 'free' | null;
}

/** Money of a payment that pays an invoice. */
export interface AppliedRow {
  payment_id: string;
  invoice_id: string;
  number: string | null;
  amount: number;
  payer_id: string | null;
  payer: string | null;
  payment_type: string;
  received_on: string | null;
  created_at: Date;
}

/** Something that was done to an invoice, and by whom. */
export interface HistoryRow {
  operation: string;
  person: string | null;
  key: string | null;
  /** What became credit when it was voided, and whose. */
  credited: number | null;
  credited_id: string | null;
  credited_to: string | null;
  created_at: Date;
}

export interface TermsRow {
  currency: string;
  /** Today, where the organization is, and when what is issued today is due. */
  today: string;
  due: string;
  /** Whether tax is charged. */
  registered: boolean;
}

export const nameOf = shownName('m');

/** The name of a member, and of a parent. */
export const memberName = (organizationId: string, id: Sql): Sql => sql`(SELECT ${nameOf} FROM members m
  LEFT JOIN users u ON u.id = m.user_id WHERE m.organization_id = ${organizationId} AND m.user_id = ${id})`;
export const parentName = (organizationId: string, id: Sql): Sql => sql`(SELECT ${shownName('r')}
  FROM parents r LEFT JOIN users u ON u.id = r.user_id WHERE r.organization_id = ${organizationId} AND r.user_id = ${id})`;

/** The names of who made a payment `p`. */
export const payerName = (organizationId: string): Sql =>
  sql`coalesce(${memberName(organizationId, sql`p.student_id`)}, ${parentName(organizationId, sql`p.parent_id`)})`;

const today = (organizationId: string): Sql =>
  sql`(SELECT (now() AT TIME ZONE time_zone)::date FROM organizations WHERE id = ${organizationId})`;

/** Open invoices whose day has passed. */
export const isOverdue = (organizationId: string): Sql => sql`status = 'open' AND due_date < ${today(organizationId)}`;

/** Drafts that come to something, to be issued. */
export const isReady: Sql = sql`status = 'draft' AND amount_due_cents > 0`;

const isIn = (organizationId: string, state: InvoiceState): Sql =>
  state === 'overdue'
    ? isOverdue(organizationId)
    : state === 'open'
      ? sql`status = 'open' AND (due_date IS NULL OR due_date >= ${today(organizationId)})`
      : sql`status = ${state}`;

const shown = (organizationId: string): Sql => sql`i.id, i.invoice_number AS number, i.student_id,
  ${memberName(organizationId, sql`i.student_id`)} AS student, i.amount_due_cents::float8 AS due,
  i.amount_paid_cents::float8 AS paid, to_char(i.due_date, 'YYYY-MM-DD') AS due_date, i.sent_at, i.created_at`;

/** A page of invoices: those of a state before those of the next one, each newest first. @param named only of these students */
export function invoicesPage(
  organizationId: string,
  filter: InvoiceFilter,
  most: number,
  named: string[] | null = null,
): Sql {
  const { state, number, student, after } = filter;
  const first = after ? STATES.indexOf(after.state) : 0;
  const which = sql`${number === '' ? empty : sql`AND invoice_number = ANY (${numbersMeant(number)})`}
    ${student === null ? empty : sql`AND student_id = ${student}`} ${named === null ? empty : sql`AND student_id = ANY (${named}::uuid[])`}`;
  const states: readonly InvoiceState[] = state === null ? STATES : FILTERS[state];
  const parts = STATES.map((one, rank) => {
    const beyond = behind(rank === first ? after : null);
    return sql`(SELECT *, ${rank}::integer AS rank FROM invoices
      WHERE organization_id = ${organizationId} AND ${isIn(organizationId, one)} ${which} ${beyond}
      ORDER BY created_at DESC, id DESC LIMIT ${most})`;
  }).filter((_, rank) => rank >= first && states.includes(STATES[rank]!));
  if (parts.length === 0) return sql`SELECT WHERE false`;
  return sql`
    SELECT ${shown(organizationId)}, (${[...STATES]}::text[])[i.rank + 1] AS state
    FROM (${join(parts, ' UNION ALL ')}) i ORDER BY i.rank, i.created_at DESC, i.id DESC LIMIT ${most}`;
}

/** The newest invoices of some students. */
export const invoicesOf = (organizationId: string, students: Sql, most: number): Sql => sql`
  SELECT ${shown(organizationId)}, CASE WHEN ${isOverdue(organizationId)} THEN 'overdue' ELSE i.status END AS state
  FROM invoices i WHERE i.organization_id = ${organizationId} AND i.student_id IN (${students})
  ORDER BY i.created_at DESC, i.id DESC LIMIT ${most}`;

export const invoice = (organizationId: string, id: string): Sql => sql`
  SELECT ${shown(organizationId)}, i.paid_at, i.person_erased, i.sent_to, i.mailed_at, i.adjustment_note_number AS note, i.tax_cents::float8 AS tax,
    i.snapshot #>> '{buyer,name}' AS billed_to,
    CASE WHEN i.snapshot @> '{"tax": {"registered": true}}' THEN i.snapshot #>> '{tax,label}' END AS tax_label,
    CASE WHEN ${isOverdue(organizationId)} THEN 'overdue' ELSE i.status END AS state
  FROM invoices i WHERE i.organization_id = ${organizationId} AND i.id = ${id}`;

export const linesOf = (organizationId: string, id: string): Sql => sql`
  SELECT id, description, quantity, unit_amount_cents::float8 AS unit, amount_cents::float8 AS amount,
    session_id AS lesson_id, tax
  FROM invoice_lines WHERE organization_id = ${organizationId} AND invoice_id = ${id} ORDER BY position`;

/** The draft that a line is on. */
export const draftOf = (organizationId: string, lineId: string): Sql => sql`
  SELECT i.id FROM invoice_lines l JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id
  WHERE l.organization_id = ${organizationId} AND l.id = ${lineId} AND i.status = 'draft'`;

/** What was applied, in the order in which it first was. @param which SQL about the allocation `a` */
export const appliedOf = (organizationId: string, which: Sql): Sql => sql`
  SELECT a.payment_id, a.invoice_id, i.invoice_number AS number, a.amount,
    coalesce(p.student_id, p.parent_id) AS payer_id, ${payerName(organizationId)} AS payer, p.payment_type,
    to_char(p.received_on, 'YYYY-MM-DD') AS received_on, a.created_at
  FROM (SELECT payment_id, invoice_id, sum(amount_cents)::float8 AS amount, min(id::text) AS first, min(created_at) AS created_at
    FROM payment_allocations a WHERE organization_id = ${organizationId} AND ${which} GROUP BY payment_id, invoice_id) a
  JOIN payments p ON p.organization_id = ${organizationId} AND p.id = a.payment_id
  JOIN invoices i ON i.organization_id = ${organizationId} AND i.id = a.invoice_id ORDER BY a.first`;

const payerOf = sql`coalesce(l.details ->> 'parent_id', l.details ->> 'student_id')`;

/** What was done to an invoice, the latest first. Refused tries are in the audit log alone. */
export const historyOf = (organizationId: string, id: string, most: number): Sql => sql`
  SELECT l.operation, l.created_at, ${memberName(organizationId, sql`l.user_id`)} AS person,
    (l.details ->> 'credited_cents')::float8 AS credited, ${payerOf} AS credited_id,
    CASE WHEN l.details ? 'credited_cents' THEN coalesce(${parentName(organizationId, sql`(l.details ->> 'parent_id')::uuid`)},
      ${memberName(organizationId, sql`(l.details ->> 'student_id')::uuid`)}) END AS credited_to,
    (SELECT name FROM api_keys k WHERE k.organization_id = ${organizationId} AND k.id = l.api_key_id) AS key
  FROM audit_log l WHERE l.organization_id = ${organizationId} AND l.details ->> 'invoice_id' = ${id} AND l.result = 'done'
  ORDER BY l.created_at DESC, l.id DESC LIMIT ${most}`;

export const mailOf = (organizationId: string, id: string): Sql => sql`
  SELECT status, last_error AS problem, due_at FROM outbox WHERE organization_id = ${organizationId} AND about_id = ${id}
  ORDER BY created_at DESC, id DESC LIMIT 1`;

export const termsOf = (organizationId: string): Sql => sql`
  SELECT currency, tax_registered AS registered, to_char(now() AT TIME ZONE time_zone, 'YYYY-MM-DD') AS today,
    to_char((now() AT TIME ZONE time_zone)::date + payment_terms_days, 'YYYY-MM-DD') AS due
  FROM organizations WHERE id = ${organizationId}`;
