import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, RetryTransaction } from '@app/database';
import { type Credit, type Debt, settle } from './allocation.js';
import { heldCurrency } from './currency.js';

/** Whose money is concerned. Parents pay for all their children. */
export interface Payers {
  studentIds: readonly string[];
  parentIds?: readonly string[];
}

/** Payers whose accounts are locked, with everybody whose money may pay the same invoices. */
export interface LockedFamilies {
  studentIds: readonly string[];
  /** They, and the other parents of the students. */
  parentIds: readonly string[];
  /** The students, and every child of one of the parents. */
  familyIds: readonly string[];
}

/** Credit as it lies in payments. A student's own is used before that of parents, which may be needed for another child. */
interface Held extends Credit {
  ofParent: boolean;
}

/** A payment that has no row yet. */
export interface Incoming extends Held {
  /** Writes its row, with what is left of it: to change that afterwards would write all of the row's index entries twice. */
  record(creditCents: bigint): Promise<unknown>;
}

/** SQL: the moment at which money moves. Not `now()`: a transaction that waited for the account began before others that moved money meanwhile. */
export const MOMENT = raw('clock_timestamp()');

/** Applies money to invoices. Nothing else does. */
@Injectable()
export class Settlement {
  constructor(private readonly db: Database) {}

  /**
   * Waits for the accounts of students: their invoices with lines, what they paid, and what of it was applied. They stay locked
   * until the end of the ambient transaction, and so does the currency. Lock sessions and calendars before, and nothing but the counter of invoices
   * after.
   */
  async lock(organizationId: string, studentIds: Iterable<string>): Promise<void> {
    await heldCurrency(this.db, organizationId);
    const names = [...new Set(studentIds)].sort().map((id) => `account of ${id} in ${organizationId}`);
    if (names.length > 0) await this.db.lock(...names);
  }

  /**
   * The same for all whose money may pay the same invoices. Whoever was linked, or whose money was applied, while this waited
   * for the locks is read again: with somebody whose account is not locked, the transaction begins anew.
   */
  async lockFamilies(organizationId: string, read: () => Promise<Payers>): Promise<LockedFamilies> {
    const { familyIds } = await this.familyOf(organizationId, await read());
    await this.lock(organizationId, familyIds);
    const families = await this.familyOf(organizationId, await read());
    if (families.familyIds.some((id) => !familyIds.includes(id))) throw new RetryTransaction();
    return families;
  }

  private async familyOf(organizationId: string, { studentIds, parentIds = [] }: Payers): Promise<LockedFamilies> {
    const [found] = await this.db.query<Pick<LockedFamilies, 'parentIds' | 'familyIds'>>(sql`
      WITH parents AS (
        SELECT unnest(${parentIds}::uuid[]) AS id
        UNION SELECT parent_id FROM parent_students WHERE organization_id = ${organizationId} AND student_id = ANY (${studentIds}::uuid[]))
      SELECT ARRAY(SELECT id FROM parents) AS "parentIds", ARRAY(SELECT unnest(${studentIds}::uuid[])
        UNION SELECT student_id FROM parent_students
        WHERE organization_id = ${organizationId} AND parent_id IN (SELECT id FROM parents)) AS "familyIds"`);
    return { studentIds, ...found! };
  }

  /** Applies all credit of the payers to open invoices, so that it never lies beside debt. */
  async settle(organizationId: string, families: LockedFamilies, incoming?: Incoming): Promise<void> {
    const [held, debts] = await Promise.all([
      this.creditsOf(organizationId, families),
      this.debtsOf(organizationId, families, incoming?.invoiceId ?? null),
    ]);
    const credits = incoming
      ? [...held, incoming].sort((one, other) => Number(one.ofParent) - Number(other.ofParent))
      : held;
    const applied = settle(credits, debts).map((allocation) => ({
      id: uuidv7(),
      payment_id: allocation.paymentId,
      invoice_id: allocation.invoiceId,
      amount_cents: String(allocation.amountCents),
    }));
    const recorded = incoming?.record(
      applied.reduce(
        (left, one) => left - (one.payment_id === incoming.paymentId ? BigInt(one.amount_cents) : 0n),
        incoming.creditCents,
      ),
    );
    if (applied.length === 0) {
      await recorded;
      return;
    }
    const rows = sql`json_populate_recordset(NULL::payment_allocations, ${JSON.stringify(applied)}::json)`;
    await Promise.all([
      recorded,
      this.db.query(sql`
        INSERT INTO payment_allocations (id, organization_id, payment_id, invoice_id, amount_cents, created_at)
        SELECT id, ${organizationId}, payment_id, invoice_id, amount_cents, ${MOMENT} FROM ${rows}`),
      this.db.query(sql`
        UPDATE payments p SET credit_cents = p.credit_cents - a.cents
        FROM (SELECT payment_id, sum(amount_cents)::bigint AS cents FROM ${rows} GROUP BY payment_id) a
        WHERE p.organization_id = ${organizationId} AND p.id = a.payment_id AND p.id IS DISTINCT FROM ${incoming?.paymentId ?? null}`),
      this.db.query(sql`
        UPDATE invoices i SET amount_paid_cents = i.amount_paid_cents + a.cents,
          status = CASE WHEN i.amount_paid_cents + a.cents >= i.amount_due_cents THEN 'paid' ELSE i.status END,
          paid_at = CASE WHEN i.amount_paid_cents + a.cents >= i.amount_due_cents THEN ${MOMENT} END
        FROM (SELECT invoice_id, sum(amount_cents)::bigint AS cents FROM ${rows} GROUP BY invoice_id) a
        WHERE i.organization_id = ${organizationId} AND i.id = a.invoice_id`),
    ]);
  }

  /** In the order in which they are used: of a student's own money, and then of parents', the oldest first. */
  private async creditsOf(organizationId: string, families: LockedFamilies): Promise<Held[]> {
    const rows = await this.db.query<Omit<Held, 'creditCents'> & { cents: string }>(sql`
      SELECT p.id AS "paymentId", p.credit_cents AS cents, p.invoice_id AS "invoiceId", p.parent_id IS NOT NULL AS "ofParent",
        CASE WHEN p.parent_id IS NULL THEN ARRAY[p.student_id] ELSE ARRAY(SELECT l.student_id FROM parent_students l
          WHERE l.organization_id = p.organization_id AND l.parent_id = p.parent_id) END AS "studentIds"
      FROM payments p WHERE ${hasCredit(organizationId, families)}
      ORDER BY p.parent_id IS NOT NULL, p.created_at, p.id FOR UPDATE OF p`);
    return rows.map(({ cents, ...credit }) => ({ ...credit, creditCents: BigInt(cents) }));
  }

  /** What the families owe, and the invoices that their credit was sent for. @param invoiceId another one that money was sent for */
  private async debtsOf(organizationId: string, families: LockedFamilies, invoiceId: string | null): Promise<Debt[]> {
    const named = sql`SELECT p.invoice_id FROM payments p WHERE ${hasCredit(organizationId, families)}`;
    const rows = await this.db.query<Omit<Debt, 'outstandingCents'> & { cents: string }>(sql`
      SELECT id, student_id AS "studentId", due_date::text AS "dueDate", status = 'uncollectible' AS uncollectible,
        amount_due_cents - amount_paid_cents AS cents
      FROM invoices WHERE organization_id = ${organizationId} AND amount_due_cents > amount_paid_cents
        AND (student_id = ANY (${families.familyIds}::uuid[]) AND status = 'open'
          OR (id = ${invoiceId} OR id = ANY (ARRAY(${named}))) AND status IN ('open', 'uncollectible'))
      ORDER BY id FOR UPDATE`);
    return rows.map(({ cents, ...debt }) => ({ ...debt, outstandingCents: BigInt(cents) }));
  }
}

/** SQL about the payment `p`. */
function hasCredit(organizationId: string, { studentIds, parentIds }: LockedFamilies): Sql {
  return sql`p.organization_id = ${organizationId} AND p.credit_cents > 0
    AND (p.student_id = ANY (${studentIds}::uuid[]) OR p.parent_id = ANY (${parentIds}::uuid[]))`;
}
