import { Injectable } from '@nestjs/common';
import type { Done } from '@app/audit';
import sql, { raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, INVOICE, lockRecord, RetryTransaction, SQLSTATE, sqlStateOf } from '@app/database';
import { Refused } from '@app/rules';
import { addDays, dayOf } from '@app/scheduling';
import { Drafts, type Line } from './drafts.js';
import { InvoiceMails } from './invoice-mails.js';
import { type LockedFamilies, MOMENT, Settlement } from './settlement.js';
import { Snapshots } from './snapshots.js';
import { creditOf } from './taking-back.js';

interface Stored {
  studentId: string;
  status: (typeof INVOICE.values)[number];
  dueCents: string;
  dueDate: string | null;
  zone: string;
  termsDays: number;
  rebilled: boolean;
  /** Of one that was issued here. */
  taxCents: string | null;
}

/** A line that somebody writes. A negative amount is a discount. */
export type WrittenLine = Pick<Line, 'description' | 'quantity' | 'unitCents' | 'tax'>;

/** What students owe, in the ambient transaction. */
@Injectable()
export class Invoices {
  constructor(
    private readonly db: Database,
    private readonly drafts: Drafts,
    private readonly settlement: Settlement,
    private readonly snapshots: Snapshots,
    private readonly mails: InvoiceMails,
  ) {}

  /** Makes a draft beside the collecting one. @returns its id @throws Refused for somebody who is no student of the organization */
  async create(organizationId: string, studentId: string, lines: readonly WrittenLine[]): Promise<string> {
    const id = uuidv7();
    await this.settlement.lock(organizationId, [studentId]);
    const [made] = await this.db.query(sql`
      INSERT INTO invoices (id, organization_id, student_id, status, amount_due_cents, currency)
      SELECT ${id}, o.id, m.user_id, 'draft', 0, o.currency FROM members m JOIN organizations o ON o.id = m.organization_id
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${studentId} AND m.role = 'student' RETURNING id`);
    if (!made) throw Refused.notFound();
    await this.append(organizationId, id, lines);
    return id;
  }

  /** @throws Refused for an invoice that has been issued */
  async addLine(organizationId: string, id: string, line: WrittenLine): Promise<void> {
    draftOnly(await this.locked(organizationId, id));
    await this.append(organizationId, id, [line]);
  }

  /** @throws Refused for an invoice that has been issued, and a line that is not its own */
  async removeLine(organizationId: string, id: string, lineId: string): Promise<void> {
    draftOnly(await this.locked(organizationId, id));
    const removed = await this.drafts.remove(organizationId, sql`l.invoice_id = ${id} AND l.id = ${lineId}`);
    if (removed === 0) throw Refused.notFound();
  }

  /** @throws Refused for an invoice that has been issued, and a line that is not its own */
  async changeLine(organizationId: string, id: string, lineId: string, line: WrittenLine): Promise<void> {
    draftOnly(await this.locked(organizationId, id));
    const written = { ...line, itemType: itemTypeOf(line) };
    if (!(await this.drafts.change(organizationId, id, lineId, written))) throw Refused.notFound();
  }

  /** Deletes a draft with its lines. @throws Refused for an invoice that has been issued, and a draft on which lessons are billed */
  async remove(organizationId: string, id: string): Promise<void> {
    draftOnly(await this.locked(organizationId, id));
    const [lesson] = await this.db.query(sql`
      SELECT FROM invoice_lines WHERE organization_id = ${organizationId} AND invoice_id = ${id} AND session_id IS NOT NULL LIMIT 1`);
    if (lesson) {
      const told = 'Lessons are billed on this draft. Remove their lines, or reopen the sessions, first.';
      throw Refused.conflict('still_referenced', told, { referenced_by: 'sessions' });
    }
    await this.drafts.remove(organizationId, sql`l.invoice_id = ${id}`);
    await this.db.query(sql`DELETE FROM invoices WHERE organization_id = ${organizationId} AND id = ${id}`);
  }

  /**
   * Issues a draft: it gets the next number, and what has been paid in advance is applied.
   *
   * @param dueDate a day of the organization's; null for the one that its terms of payment give
   * @param send whether it is mailed to whoever pays
   * @param seenCents the sum that somebody has agreed to; null for whatever it comes to
   * @throws Refused for one without lines, a sum below zero or another one, and another due date than that of the first time
   */
  async finalize(
    organizationId: string,
    id: string,
    dueDate: string | null,
    send = false,
    seenCents: bigint | null = null,
  ): Promise<Done> {
    const invoice = await this.locked(organizationId, id);
    const status = INVOICE.next('finalize', invoice.status);
    if (!status) {
      if (dueDate === null || dueDate === invoice.dueDate) return { changed: false };
      throw Refused.invalidState(invoice.status, ['draft'], 'The invoice has been issued, with another due date.');
    }
    if (seenCents !== null && seenCents !== BigInt(invoice.dueCents))
      throw Refused.invalidState('draft', ['draft'], 'The draft has changed since: look at it again.');
    const [line] = await this.db.query(sql`
      SELECT FROM invoice_lines WHERE organization_id = ${organizationId} AND invoice_id = ${id} LIMIT 1`);
    if (!line) throw Refused.invalidState('draft', ['draft'], 'The invoice has no lines yet: add some first.');
    if (BigInt(invoice.dueCents) < 0n) {
      throw Refused.invalidState(
        'draft',
        ['draft'],
        'The discounts are larger than the other lines: the total is below zero.',
      );
    }
    const due = dueDate ?? addDays(dayOf(new Date(), invoice.zone), invoice.termsDays);
    await this.number(organizationId, id, due);
    await this.settlement.settle(organizationId, invoice.family);
    return send ? this.mails.send(organizationId, id) : {};
  }

  /** Mails an issued invoice to whoever pays, each time again. @throws Refused if nobody can be reached */
  async send(organizationId: string, id: string): Promise<Done> {
    await this.locked(organizationId, id);
    return this.mails.send(organizationId, id);
  }

  /**
   * Takes back an issued invoice. What was applied to it becomes credit, which pays what else is open.
   *
   * @param rebill whether its lines go to the student's collecting draft
   * @throws Refused for another `rebill` than that of the first time
   */
  async void(organizationId: string, id: string, rebill: boolean | null): Promise<Done & { changed: boolean }> {
    const invoice = await this.locked(organizationId, id, () => this.payersOf(organizationId, id));
    const status = INVOICE.next('void', invoice.status);
    if (!status) {
      if (rebill === null || rebill === invoice.rebilled) return { changed: false };
      const told = `The invoice was voided before, and its lines were ${invoice.rebilled ? '' : 'not '}billed again.`;
      throw Refused.invalidState(invoice.status, INVOICE.allowed('void'), told);
    }
    const payers = await this.payersOf(organizationId, id);
    const [[freed]] = await Promise.all([
      this.db.query<{ cents: string }>(sql`
        WITH freed AS (
          DELETE FROM payment_allocations WHERE organization_id = ${organizationId} AND invoice_id = ${id}
          RETURNING payment_id, amount_cents),
        sums AS (SELECT payment_id, sum(amount_cents)::bigint AS cents FROM freed GROUP BY payment_id),
        credited AS (
          UPDATE payments p SET credit_cents = p.credit_cents + s.cents FROM sums s
          WHERE p.organization_id = ${organizationId} AND p.id = s.payment_id)
        UPDATE invoices SET status = ${status}, rebilled = ${rebill ?? false}, amount_paid_cents = amount_paid_cents - (SELECT coalesce(sum(cents), 0) FROM sums)
        WHERE organization_id = ${organizationId} AND id = ${id} RETURNING (SELECT coalesce(sum(cents), 0) FROM sums)::text AS cents`),
      rebill && this.rebill(organizationId, id, invoice.studentId),
    ]);
    await this.settlement.settle(organizationId, invoice.family);
    if (BigInt(invoice.taxCents ?? 0) > 0n) await this.numberNote(organizationId, id, dayOf(new Date(), invoice.zone));
    return { changed: true, audit: { rebill: rebill ?? false, ...creditOf(payers, Number(freed!.cents)) } };
  }

  /** Gives up an open invoice: nobody is asked for it any more, and its tax stays as it is. @returns false if it had been done before */
  async writeOff(organizationId: string, id: string): Promise<boolean> {
    const status = INVOICE.next('write_off', (await this.locked(organizationId, id)).status);
    if (!status) return false;
    await this.db.query(
      sql`UPDATE invoices SET status = ${status} WHERE organization_id = ${organizationId} AND id = ${id}`,
    );
    return true;
  }

  /** Waits for the accounts of all whose money pays an invoice, or may. @throws Refused for an unknown one */
  lock(organizationId: string, id: string): Promise<LockedFamilies> {
    return this.familyOf(organizationId, id, () => this.payersOf(organizationId, id));
  }

  /** Whose money is applied to an invoice, besides its student's. */
  private async payersOf(organizationId: string, id: string) {
    const payers = await this.db.query<{ student: string | null; parent: string | null }>(sql`
      SELECT DISTINCT p.student_id AS student, p.parent_id AS parent FROM payment_allocations a
      JOIN payments p ON p.organization_id = a.organization_id AND p.id = a.payment_id
      WHERE a.organization_id = ${organizationId} AND a.invoice_id = ${id}`);
    return {
      studentIds: payers.flatMap(({ student }) => student ?? []),
      parentIds: payers.flatMap(({ parent }) => parent ?? []),
    };
  }

  /** The invoice, whose accounts are locked from now on. */
  private async locked(
    organizationId: string,
    id: string,
    others = NOBODY,
  ): Promise<Stored & { family: LockedFamilies }> {
    const family = await this.familyOf(organizationId, id, others);
    const columns = sql`student_id AS "studentId", status, amount_due_cents AS "dueCents", due_date::text AS "dueDate", rebilled, tax_cents AS "taxCents",
      (SELECT time_zone FROM organizations o WHERE o.id = organization_id) AS zone,
      (SELECT payment_terms_days FROM organizations o WHERE o.id = organization_id) AS "termsDays"`;
    return { ...(await lockRecord<Stored>(this.db, 'invoices', organizationId, id, columns)), family };
  }

  private familyOf(organizationId: string, id: string, others: typeof NOBODY): Promise<LockedFamilies> {
    return this.settlement.lockFamilies(organizationId, async () => {
      const payers = await others();
      return { ...payers, studentIds: [...payers.studentIds, await this.studentOf(organizationId, id)] };
    });
  }

  private async studentOf(organizationId: string, id: string): Promise<string> {
    const [found] = await this.db.query<{ student: string }>(sql`
      SELECT student_id AS student FROM invoices WHERE organization_id = ${organizationId} AND id = ${id}`);
    if (!found) throw Refused.notFound();
    return found.student;
  }

  /** Under a lock, so that numbers have no gaps: the next one is taken only when this one is committed. */
  private async number(organizationId: string, id: string, dueDate: string): Promise<void> {
    const { snapshot, taxCents, parentId } = await this.snapshots.take(organizationId, id);
    await this.takeNumber(
      organizationId,
      (next) => sql`
        UPDATE invoices SET invoice_number = ${next('INV-', 'serial')}, collecting = false,
          status = CASE amount_due_cents WHEN 0 THEN 'paid' ELSE 'open' END, paid_at = CASE amount_due_cents WHEN 0 THEN ${MOMENT} END,
          due_date = ${dueDate}, sent_at = ${MOMENT}, snapshot = ${snapshot}::jsonb, tax_cents = ${String(taxCents)}::bigint,
          billed_parent_id = ${parentId}::uuid
        WHERE organization_id = ${organizationId} AND id = ${id}`,
    );
  }

  /** Of the note that takes an invoice back in which tax was charged. @param day on which it does */
  private numberNote(organizationId: string, id: string, day: string): Promise<void> {
    return this.takeNumber(
      organizationId,
      (next) => sql`
        UPDATE invoices SET adjustment_note_number = ${next('ADJ-', 'adjustment_note_serial')}, adjusted_on = ${day}
        WHERE organization_id = ${organizationId} AND id = ${id}`,
    );
  }

  /** @param update takes the next number of a column, in SQL */
  private async takeNumber(
    organizationId: string,
    update: (next: (prefix: string, serial: 'serial' | 'adjustment_note_serial') => Sql) => Sql,
  ): Promise<void> {
    await this.db.lock(`invoice numbers of ${organizationId}`);
    const next = (
      prefix: string,
      serial: string,
    ) => sql`(SELECT ${prefix}::text || lpad(n, greatest(6, length(n)), '0') FROM (
      SELECT (coalesce(max(${raw(serial)}), 0) + 1)::text AS n FROM invoices WHERE organization_id = ${organizationId}) last)`;
    try {
      await this.db.query(update(next));
    } catch (error) {
      // An import, which does not wait for the lock, has brought the number.
      throw sqlStateOf(error) === SQLSTATE.uniqueViolation ? new RetryTransaction() : error;
    }
  }

  private async rebill(organizationId: string, id: string, studentId: string): Promise<void> {
    const lines = await this.db.query<Omit<Line, 'unitCents' | 'amountCents'> & Record<'unit' | 'amount', string>>(sql`
      SELECT description, quantity, unit_amount_cents AS unit, amount_cents AS amount, item_type AS "itemType", session_id AS "sessionId",
        -- A lesson's is looked up again: a wrong one may be why the invoice was voided.
        CASE WHEN session_id IS NULL THEN tax END AS tax
      FROM invoice_lines WHERE organization_id = ${organizationId} AND invoice_id = ${id} ORDER BY position`);
    await this.drafts.charge(
      organizationId,
      lines.map(({ unit, amount, ...line }) => ({
        ...line,
        studentId,
        unitCents: BigInt(unit),
        amountCents: BigInt(amount),
      })),
    );
  }

  private async append(organizationId: string, invoiceId: string, lines: readonly WrittenLine[]): Promise<void> {
    await this.drafts.append(
      organizationId,
      lines.map((line) => ({ ...line, invoiceId, itemType: itemTypeOf(line), sessionId: null })),
    );
  }
}

const itemTypeOf = ({ unitCents }: WrittenLine): Line['itemType'] => (unitCents < 0n ? 'discount' : 'other');

const NOBODY = () => Promise.resolve({ studentIds: [] as string[], parentIds: [] as string[] });

function draftOnly({ status }: Stored): void {
  if (status !== 'draft') throw Refused.invalidState(status, ['draft']);
}
