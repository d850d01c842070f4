import sql, { raw, type Sql } from 'sql-template-tag';
import { behind, type INVOICE, type Position, type VALUES, visiblePerson } from '@app/database';
import { billingParent } from '@app/people';

/**
 * An issued invoice as a parent may see it: of their own children alone. Whom it was billed to sees what is paid and due; another
 * linked parent its number, sum and state. Nobody reads who pays, where they live, or what they sent.
 */
export interface SeenInvoice {
  id: string;
  number: string;
  /** The child's first name. */
  child: string | null;
  status: (typeof INVOICE.values)[number];
  due: number;
  /** Whether it was billed to them. */
  mine: boolean;
  /** What follows is null unless it was. */
  paid: number | null;
  due_date: string | null;
  overdue: boolean | null;
  created_at: Date;
}

/** What a parent has sent. */
export interface SeenPayment {
  id: string;
  amount: number;
  refunded: number;
  payment_type: (typeof VALUES)['payments']['payment_type'][number];
  received_on: string;
}

/** What is left to pay of what was billed to a parent, how much of it late, and their credit. */
export interface SeenBalance {
  open: number;
  overdue: number;
  credit: number;
}

/** SQL: the children of an accepted parent as `c`: `id`, `name`, and whether the parent pays for them now. */
const childrenOf = (organizationId: string, parentId: string): Sql => sql`
  SELECT m.user_id AS id, ${raw(visiblePerson('m').first_name)} AS name, (${raw(billingParent('m'))}) = ${parentId}::uuid AS pays
  FROM parents r JOIN parent_students l ON l.organization_id = r.organization_id AND l.parent_id = r.user_id
  JOIN members m ON m.organization_id = l.organization_id AND m.user_id = l.student_id LEFT JOIN users u ON u.id = m.user_id
  WHERE r.organization_id = ${organizationId} AND r.user_id = ${parentId} AND r.status = 'accepted'`;

/** SQL: whether the invoice `i` of the child `c` was billed to the parent; of an imported one, whether they pay for the child now. */
const isMine = (parentId: string): Sql => sql`(NOT i.person_erased AND CASE WHEN i.billed_parent_id IS NOT NULL
  THEN i.billed_parent_id = ${parentId} ELSE i.snapshot IS NULL AND coalesce(c.pays, false) END)`;

const ISSUED = sql`i.status IN ('open', 'paid', 'void', 'uncollectible')`;

const today = (organizationId: string): Sql =>
  sql`(SELECT (now() AT TIME ZONE time_zone)::date FROM organizations WHERE id = ${organizationId})`;

/** Invoices of their children, the newest first. */
export const seenInvoices = (
  organizationId: string,
  parentId: string,
  after: Position | null,
  most: number,
): Sql => sql`
  SELECT i.id, i.invoice_number AS number, i.name AS child, i.status, i.amount_due_cents::float8 AS due, i.mine, i.created_at,
    CASE WHEN i.mine THEN i.amount_paid_cents::float8 END AS paid, CASE WHEN i.mine THEN i.due_date::text END AS due_date,
    CASE WHEN i.mine THEN i.status = 'open' AND coalesce(i.due_date < ${today(organizationId)}, false) END AS overdue
  FROM (SELECT i.*, c.name, ${isMine(parentId)} AS mine FROM (${childrenOf(organizationId, parentId)}) c
    JOIN invoices i ON i.organization_id = ${organizationId} AND i.student_id = c.id WHERE ${ISSUED}) i
  WHERE true ${behind(after)} ORDER BY i.created_at DESC, i.id DESC LIMIT ${most}`;

export const seenBalance = (organizationId: string, parentId: string): Sql => sql`
  SELECT coalesce(sum(i.amount_due_cents - i.amount_paid_cents), 0)::float8 AS open,
    coalesce(sum(i.amount_due_cents - i.amount_paid_cents) FILTER (WHERE i.due_date < ${today(organizationId)}), 0)::float8 AS overdue,
    (SELECT coalesce(sum(p.credit_cents), 0)::float8 FROM payments p WHERE p.organization_id = ${organizationId} AND p.parent_id = ${parentId}
      AND p.credit_cents > 0) AS credit
  FROM (${childrenOf(organizationId, parentId)}) c
  JOIN invoices i ON i.organization_id = ${organizationId} AND i.student_id = c.id AND i.status = 'open'
  WHERE ${isMine(parentId)}`;

/** What they have sent, the newest first. */
export const seenPayments = (organizationId: string, parentId: string, most: number): Sql => sql`
  SELECT p.id, p.amount_cents::float8 AS amount, coalesce(p.refund_amount_cents, 0)::float8 AS refunded, p.payment_type,
    coalesce(p.received_on, (p.created_at AT TIME ZONE o.time_zone)::date)::text AS received_on
  FROM payments p JOIN organizations o ON o.id = p.organization_id
  WHERE p.organization_id = ${organizationId} AND p.parent_id = ${parentId} AND p.status IN ('succeeded', 'refunded') AND NOT p.person_erased
  ORDER BY p.created_at DESC, p.id DESC LIMIT ${most}`;

/** SQL: whether a parent may read the paper of the invoice `i`: whom it was billed to, while they have a link to the child. */
export const readsInvoice = (organizationId: string, parentId: string): Sql => sql`
  EXISTS (SELECT FROM (${childrenOf(organizationId, parentId)}) c WHERE c.id = i.student_id AND ${ISSUED} AND ${isMine(parentId)})`;
