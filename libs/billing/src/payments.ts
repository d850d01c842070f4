import { Injectable } from '@nestjs/common';
import type { Done } from '@app/audit';
import { TakenBackNotices } from '@app/people';
import sql, { type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, INVOICE, lockRecord, type VALUES } from '@app/database';
import { type Refusal, Refused } from '@app/rules';
import { dayOf } from '@app/scheduling';
import { refund } from './allocation.js';
import { ReceiptMails } from './receipt-mails.js';
import { type LockedFamilies, MOMENT, type Payers, Settlement } from './settlement.js';
import { takenBackAs } from './taking-back.js';

type Values = (typeof VALUES)['payments'];

/** Money that was received elsewhere. */
export interface Received {
  payer: { studentId: string } | { parentId: string };
  amountCents: number;
  type: Values['payment_type'][number];
  /** The organization's, if it is named. */
  currency: string | null;
  /** The invoice that it was sent for, which it pays first. */
  invoiceId: string | null;
  sessionId: string | null;
  /** A day of the organization's; null for today. */
  receivedOn: string | null;
  /** What the bank or the payer calls it. */
  reference?: string | null;
  /** Whether its receipt is mailed. */
  receipt?: boolean;
}

interface Applied {
  id: string;
  invoiceId: string;
  amountCents: bigint;
}

interface Stored {
  status: Values['status'][number];
  recorded: boolean;
  amount: string;
  refunded: string;
  credit: string;
  takenBack: boolean;
  /** Why it was taken back. */
  reason: string | null;
  /** Whether it was recorded in the last 24 hours. */
  recent: boolean;
}

/** Money that families pay and get back, in the ambient transaction. */
@Injectable()
export class Payments {
  constructor(
    private readonly db: Database,
    private readonly settlement: Settlement,
    private readonly notices: TakenBackNotices,
    private readonly receipts: ReceiptMails,
  ) {}

  /** Records money, and applies it. @returns the payment's id @throws Refused for people and invoices that do not go together */
  async record(organizationId: string, received: Received): Promise<string> {
    const { payer, invoiceId, sessionId, amountCents, type, reference = null } = received;
    const [studentId, parentId] = 'studentId' in payer ? [payer.studentId, null] : [null, payer.parentId];
    // What is wrong with the values is told before that somebody is unknown.
    const { currency, receivedOn } = await this.checkedTerms(organizationId, received);
    const tutorOf = sessionId === null ? null : await this.lockSession(organizationId, sessionId);
    const families = await this.settlement.lockFamilies(organizationId, async () => ({
      studentIds: await this.studentsOf(organizationId, payer),
      parentIds: parentId === null ? [] : [parentId],
    }));
    const students = families.studentIds;
    if (invoiceId !== null) await this.checkInvoice(organizationId, invoiceId, students);
    const tutorId = tutorOf && (await tutorOf(students));
    const id = uuidv7();
    const record = (creditCents: bigint) =>
      this.db.query(sql`
        INSERT INTO payments (id, organization_id, student_id, parent_id, session_id, invoice_id, tutor_id, amount_cents, currency,
          payment_type, status, received_on, reference, recorded, credit_cents, created_at)
        VALUES (${id}, ${organizationId}, ${studentId}, ${parentId}, ${sessionId}, ${invoiceId}, ${tutorId}, ${amountCents},
          ${currency}, ${type}, 'succeeded', ${receivedOn}, ${reference}, true, ${String(creditCents)}::bigint, ${MOMENT})`);
    const ofParent = parentId !== null;
    const credit = { paymentId: id, creditCents: BigInt(amountCents), studentIds: students, invoiceId, ofParent };
    await this.settlement.settle(organizationId, families, { ...credit, record });
    if (received.receipt) await this.receipts.send(organizationId, id, payer);
    return id;
  }

  /**
   * Money that goes back: credit first, then what was applied last, whose invoices are open again. Other credit may pay
   * those at once.
   *
   * @throws Refused for more than there is, and a payment that was not recorded here
   */
  async refund(organizationId: string, id: string, amountCents: number): Promise<Done> {
    const { families, payment } = await this.locked(organizationId, id);
    const { status, recorded, amount, refunded, credit } = payment;
    if (status !== 'succeeded') throw Refused.invalidState(status, ['succeeded']);
    if (!recorded) throw Refused.invalidState(status, [], IMPORTED);
    const left = BigInt(amount) - BigInt(refunded);
    if (BigInt(amountCents) > left)
      throw Refused.invalid('Must not be more than is left of the payment.', 'amount_cents');

    const after = BigInt(amountCents) === left ? 'refunded' : status;
    await this.takeOff(
      organizationId,
      id,
      { cents: BigInt(amountCents), creditCents: BigInt(credit) },
      { status: after, refundedCents: BigInt(refunded) + BigInt(amountCents), reason: null },
    );
    await this.settlement.settle(organizationId, families);
    return { audit: { refunded_cents: amountCents } };
  }

  /**
   * Takes back a payment that was entered by mistake: what it paid is due again. Other credit may pay that at once.
   *
   * @returns false if it had been done before
   * @throws Refused for a payment that was not recorded here, or not in the last 24 hours, after a refund, and for another reason than
   *   that of the first time
   */
  async void(organizationId: string, id: string, reason: string): Promise<boolean> {
    const { families, payment } = await this.locked(organizationId, id);
    const { status, recorded, amount, refunded, credit, takenBack, recent } = payment;
    if (takenBack) return takenBackAs(reason, payment.reason, status, ['succeeded']);
    if (!recorded) throw Refused.invalidState(status, [], IMPORTED);
    if (status !== 'succeeded') throw Refused.invalidState(status, ['succeeded']);
    if (refunded !== '0')
      throw Refused.invalidState(status, [], 'Some of the payment has been refunded: refund the rest instead.');
    if (!recent)
      throw Refused.invalidState(status, [], 'The payment was recorded more than 24 hours ago: refund it instead.');
    await this.takeOff(
      organizationId,
      id,
      { cents: BigInt(amount), creditCents: BigInt(credit) },
      { status: 'canceled', refundedCents: null, reason },
    );
    await this.settlement.settle(organizationId, families);
    await this.notices.tell(organizationId);
    return true;
  }

  /** Waits for the accounts of all whose invoices a payment paid or may pay. @throws Refused for an unknown one */
  lock(organizationId: string, id: string): Promise<LockedFamilies> {
    return this.settlement.lockFamilies(organizationId, () => this.concernedBy(organizationId, id));
  }

  /** A payment, with the accounts of all whose invoices it paid or may pay. @throws Refused for an unknown one */
  private async locked(organizationId: string, id: string): Promise<{ families: LockedFamilies; payment: Stored }> {
    const families = await this.lock(organizationId, id);
    const columns = sql`status, recorded, amount_cents AS amount, coalesce(refund_amount_cents, 0) AS refunded, credit_cents AS credit,
      taken_back_at IS NOT NULL AS "takenBack", void_reason AS reason, created_at > now() - interval '24 hours' AS recent`;
    return { families, payment: await lockRecord<Stored>(this.db, 'payments', organizationId, id, columns) };
  }

  /** Takes money off a payment: credit first, then what was applied last. @param after what it is then; a reason takes it back */
  private async takeOff(
    organizationId: string,
    id: string,
    { cents, creditCents }: { cents: bigint; creditCents: bigint },
    after: { status: Values['status'][number]; refundedCents: bigint | null; reason: string | null },
  ): Promise<void> {
    const applied = await this.appliedOf(organizationId, id);
    const { fromCreditCents, taken } = refund(cents, creditCents, applied);
    const rows = JSON.stringify(
      taken.map(({ id, invoiceId, takenCents }) => ({ id, invoice_id: invoiceId, amount_cents: String(takenCents) })),
    );
    const back = sql`json_populate_recordset(NULL::payment_allocations, ${rows}::json) b`;
    const all = taken.filter(({ amountCents, takenCents }) => amountCents === takenCents).map((one) => one.id);
    await Promise.all([
      this.db.query(sql`
        UPDATE payments SET credit_cents = credit_cents - ${String(fromCreditCents)}::bigint, status = ${after.status},
          refund_amount_cents = ${after.refundedCents === null ? null : String(after.refundedCents)}::bigint, void_reason = ${after.reason},
          taken_back_at = CASE WHEN ${after.reason}::text IS NOT NULL THEN now() END
        WHERE organization_id = ${organizationId} AND id = ${id}`),
      this.db.query(
        sql`DELETE FROM payment_allocations WHERE organization_id = ${organizationId} AND id = ANY (${all}::uuid[])`,
      ),
      this.db.query(sql`
        UPDATE payment_allocations a SET amount_cents = a.amount_cents - b.amount_cents FROM ${back}
        WHERE a.organization_id = ${organizationId} AND a.id = b.id AND a.id <> ALL (${all}::uuid[])`),
      this.db.query(sql`
        UPDATE invoices i SET amount_paid_cents = i.amount_paid_cents - b.cents, paid_at = NULL,
          status = CASE i.status WHEN 'paid' THEN 'open' ELSE i.status END
        FROM (SELECT invoice_id, sum(amount_cents)::bigint AS cents FROM ${back} GROUP BY invoice_id) b
        WHERE i.organization_id = ${organizationId} AND i.id = b.invoice_id`),
    ]);
  }

  /** The students whose invoices the payer pays. @throws Refused for strangers, and parents without a child here */
  private async studentsOf(organizationId: string, payer: Received['payer']): Promise<string[]> {
    const found =
      'studentId' in payer
        ? sql`SELECT user_id AS id FROM members WHERE organization_id = ${organizationId} AND user_id = ${payer.studentId}
            AND role = 'student'`
        : childrenOf(organizationId, payer.parentId);
    const students = await this.db.query<{ id: string }>(found);
    if (students.length === 0) throw Refused.notFound();
    return students.map(({ id }) => id);
  }

  private async checkedTerms(organizationId: string, { currency, receivedOn }: Received) {
    const [organization] = await this.db.query<{ currency: string; zone: string }>(
      sql`SELECT currency, time_zone AS zone FROM organizations WHERE id = ${organizationId} FOR KEY SHARE`,
    );
    const { currency: own, zone } = organization!;
    const refusals = dayFaults(receivedOn, zone);
    if (currency !== null && currency !== own)
      refusals.push({ at: ['currency'], reason: `The organization’s currency is ${own}.` });
    if (refusals.length > 0) throw Refused.invalidAt(refusals);
    return { currency: own, receivedOn: receivedOn ?? dayOf(new Date(), zone) };
  }

  private async checkInvoice(organizationId: string, invoiceId: string, students: readonly string[]): Promise<void> {
    const [invoice] = await this.db.query<{ student: string; status: (typeof INVOICE.values)[number] }>(sql`
      SELECT student_id AS student, status FROM invoices WHERE organization_id = ${organizationId} AND id = ${invoiceId}`);
    if (!invoice) throw Refused.notFound();
    if (!students.includes(invoice.student)) throw Refused.invalid('This invoice is not the payer’s.', 'invoice_id');
    const allowed = INVOICE.allowed('settle');
    if (!allowed.includes(invoice.status)) throw Refused.invalidState(invoice.status, allowed);
  }

  /** Sessions are locked before accounts, and against being deleted. @returns the session's tutor, once it is known whose it must be */
  private async lockSession(organizationId: string, sessionId: string) {
    const [session] = await this.db.query<{ tutor: string | null }>(sql`
      SELECT tutor_id AS tutor FROM sessions WHERE organization_id = ${organizationId} AND id = ${sessionId} FOR KEY SHARE`);
    if (!session) throw Refused.notFound();
    return async (students: readonly string[]): Promise<string | null> => {
      const [theirs] = await this.db.query(sql`
        SELECT FROM lesson_participants WHERE organization_id = ${organizationId} AND session_id = ${sessionId}
          AND student_id = ANY (${students}::uuid[]) LIMIT 1`);
      if (!theirs)
        throw Refused.invalid(
          'Must be a session in which the student, or a child of the parent, takes part.',
          'session_id',
        );
      return session.tutor;
    };
  }

  /** Who made a payment, and whose invoices it pays now. @throws Refused for an unknown one */
  private async concernedBy(organizationId: string, id: string): Promise<Payers> {
    const [payment] = await this.db.query<{ student: string | null; parent: string | null; paid: string[] }>(sql`
      SELECT p.student_id AS student, p.parent_id AS parent, ARRAY(SELECT i.student_id FROM payment_allocations a
        JOIN invoices i ON i.organization_id = a.organization_id AND i.id = a.invoice_id
        WHERE a.organization_id = p.organization_id AND a.payment_id = p.id) AS paid
      FROM payments p WHERE p.organization_id = ${organizationId} AND p.id = ${id}`);
    if (!payment) throw Refused.notFound();
    const { student, parent, paid } = payment;
    const children = parent ? await this.db.query<{ id: string }>(childrenOf(organizationId, parent)) : [];
    const studentIds = [...paid, ...(student ? [student] : []), ...children.map((child) => child.id)];
    return { studentIds, parentIds: parent ? [parent] : [] };
  }

  /** What of a payment is applied, the newest first. */
  private async appliedOf(organizationId: string, id: string): Promise<Applied[]> {
    const rows = await this.db.query<{ id: string; invoiceId: string; cents: string }>(sql`
      SELECT id, invoice_id AS "invoiceId", amount_cents AS cents FROM payment_allocations
      WHERE organization_id = ${organizationId} AND payment_id = ${id} ORDER BY id DESC`);
    return rows.map(({ cents, ...applied }) => ({ ...applied, amountCents: BigInt(cents) }));
  }
}

const IMPORTED = 'The payment was imported: what became of it is history.';

function childrenOf(organizationId: string, parentId: string): Sql {
  return sql`SELECT student_id AS id FROM parent_students WHERE organization_id = ${organizationId} AND parent_id = ${parentId}`;
}

/** What is wrong with the day on which money was received. @param zone the organization's */
export function dayFaults(receivedOn: string | null, zone: string): Refusal[] {
  if (receivedOn === null || receivedOn <= dayOf(new Date(), zone)) return [];
  return [{ at: ['received_on'], reason: 'Must not be later than today.' }];
}
