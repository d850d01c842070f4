import sql, { type Sql } from 'sql-template-tag';
import { behind, type Position } from '@app/database';
import { sumsOf } from '@app/billing';
import { shownName } from '@app/people';
import { payerName } from './invoices.queries.js';

/** A student, or a parent with children here. */
export interface PayerRow {
  as: 'student' | 'parent';
  id: string;
  name: string | null;
}

/** The sums of a family: cents of issued invoices, and what is paid beyond them. */
export interface BalanceRow {
  invoiced: number;
  paid: number;
  open: number;
  credit: number;
}

export interface PaymentRow {
  id: string;
  payer_id: string | null;
  payer: string | null;
  amount: number;
  refunded: number;
  credit: number;
  payment_type: 'card' | 'bank_transfer' | 'cash' | 'external';
  status: 'pending' | 'succeeded' | 'refunded' | 'failed' | 'disputed' | 'canceled';
  /** Whether it was recorded here: nothing becomes of imported ones. */
  recorded: boolean;
  received_on: string | null;
  /** Whether it can be taken back as a mistake. */
  revocable: boolean;
  void_reason: string | null;
  /** Only owners are shown its receipt. */
  person_erased: boolean;
  created_at: Date;
}

const member = shownName('m');
const parent = shownName('p');

/** Somebody whose family pays. Students who have left are found too. */
export const payer = (organizationId: string, id: string): Sql => sql`
  SELECT 'student' AS "as", m.user_id AS id, ${member} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = ${organizationId} AND m.user_id = ${id} AND m.role = 'student'
  UNION ALL SELECT 'parent', p.user_id, ${parent} FROM parents p LEFT JOIN users u ON u.id = p.user_id
  WHERE p.organization_id = ${organizationId} AND p.user_id = ${id} AND p.enrolled_at IS NOT NULL`;

export const parentsOf = (organizationId: string, studentId: string): Sql => sql`
  SELECT 'parent' AS "as", p.user_id AS id, ${parent} AS name FROM parent_students l
  JOIN parents p ON p.organization_id = l.organization_id AND p.user_id = l.parent_id LEFT JOIN users u ON u.id = p.user_id
  WHERE l.organization_id = ${organizationId} AND l.student_id = ${studentId} ORDER BY l.linked_at, p.user_id`;

export const childrenOf = (organizationId: string, parentId: string): Sql => sql`
  SELECT 'student' AS "as", m.user_id AS id, ${member} AS name FROM parent_students l
  JOIN members m ON m.organization_id = l.organization_id AND m.user_id = l.student_id LEFT JOIN users u ON u.id = m.user_id
  WHERE l.organization_id = ${organizationId} AND l.parent_id = ${parentId} ORDER BY l.linked_at, m.user_id`;

/** The ids of the students for whom somebody pays. */
export const studentsOf = (organizationId: string, { as, id }: Pick<PayerRow, 'as' | 'id'>): Sql =>
  as === 'student'
    ? sql`SELECT ${id}::uuid`
    : sql`SELECT student_id FROM parent_students WHERE organization_id = ${organizationId} AND parent_id = ${id}`;

export const balanceOf = (organizationId: string, students: Sql, payerId: string): Sql => sql`
  SELECT i.invoiced::float8 AS invoiced, i.paid::float8 AS paid, i.outstanding::float8 AS open, k.credit::float8 AS credit
  FROM (VALUES (true)) one ${sumsOf(sql`ARRAY(${students})`, sql`${organizationId}`, paidBy(students, payerId))}`;

/** Whether a family made the payment `c`. */
const paidBy = (students: Sql, payerId: string): Sql =>
  sql`(c.parent_id = ${payerId} OR c.student_id = ANY (ARRAY(${students})))`;

const shown = (organizationId: string): Sql => sql`p.id, coalesce(p.student_id, p.parent_id) AS payer_id,
  ${payerName(organizationId)} AS payer, p.amount_cents::float8 AS amount,
  coalesce(p.refund_amount_cents, 0)::float8 AS refunded, p.credit_cents::float8 AS credit, p.payment_type, p.status,
  p.recorded, to_char(p.received_on, 'YYYY-MM-DD') AS received_on, p.void_reason, p.person_erased, p.created_at,
  p.recorded AND p.status = 'succeeded' AND p.refund_amount_cents IS NULL AND p.created_at > now() - interval '24 hours' AS revocable`;

/** The newest payments of a family. */
export const paymentsOf = (organizationId: string, students: Sql, payerId: string, most: number): Sql => sql`
  SELECT ${shown(organizationId)} FROM payments p WHERE p.organization_id = ${organizationId}
    -- Found by the family first: it has few, the organization many.
    AND p.id = ANY (ARRAY(SELECT c.id FROM payments c WHERE c.organization_id = ${organizationId}
      AND ${paidBy(students, payerId)}))
  ORDER BY p.created_at DESC, p.id DESC LIMIT ${most}`;

/** Payments, the newest first. @param which SQL about them */
export const paymentsPage = (organizationId: string, which: Sql, after: Position | null, most: number): Sql => sql`
  SELECT ${shown(organizationId)} FROM (SELECT * FROM payments WHERE organization_id = ${organizationId} ${which} ${behind(after)}
    ORDER BY created_at DESC, id DESC LIMIT ${most}) p ORDER BY p.created_at DESC, p.id DESC`;

export const payment = (organizationId: string, id: string): Sql => sql`
  SELECT ${shown(organizationId)} FROM payments p WHERE p.organization_id = ${organizationId} AND p.id = ${id}`;
