import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, type Position } from '@app/database';
import { peoplePage, type PersonRow } from '../people/people.queries.js';
import { matching, rowsToRead } from '../people/people.service.js';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import {
  type BalanceRow, balanceOf, childrenOf, parentsOf, payer, type PayerRow, payment, type PaymentRow, paymentsOf, studentsOf,
} from './families.queries.js'; // prettier-ignore
import {
  type AppliedRow, appliedOf, draftOf, type HistoryRow, historyOf, invoice, type InvoiceDetails, type InvoiceRow, invoicesOf, type LineRow, linesOf, mailOf, type MailRow, type TermsRow, termsOf,
} from './invoices.queries.js'; // prettier-ignore

const PAGE = 20;
const MOST_OF_FAMILY = 25;
const MOST_HISTORY = 50;

/** What families owe and have paid, to be read. */
@Injectable()
export class Ledger {
  constructor(private readonly db: Database) {}

  /** @throws PageError 404 if the organization has no such invoice */
  async invoice({ organizationId }: Membership, id: string) {
    const at = { organizationId };
    const [[found], lines, applied, history, [terms], [mail]] = await this.db.read<
      [InvoiceDetails, LineRow, AppliedRow, HistoryRow, TermsRow, MailRow]
    >(
      at,
      invoice(organizationId, id),
      linesOf(organizationId, id),
      appliedOf(organizationId, sql`a.invoice_id = ${id}`),
      historyOf(organizationId, id, MOST_HISTORY),
      termsOf(organizationId),
      mailOf(organizationId, id),
    );
    if (!found) throw PageError.notFound();
    const [parents] = await this.db.read<[PayerRow]>(at, parentsOf(organizationId, found.student_id));
    return { invoice: found, lines, applied, history, terms: terms!, parents, mail: mail ?? null };
  }

  /** The invoice of a line. @throws PageError 404 if it is on no draft of the organization */
  async draftOf({ organizationId }: Membership, lineId: string): Promise<string> {
    const [[found]] = await this.db.read<[{ id: string }]>({ organizationId }, draftOf(organizationId, lineId));
    if (!found) throw PageError.notFound();
    return found.id;
  }

  /** Students, the newest first, also those who have left. @param search part of a name or address; empty for all */
  async students({ organizationId }: Membership, search: string, after: Position | null) {
    const everybody = { role: 'student', status: null, days: null, search } as const;
    const query = peoplePage(organizationId, everybody, after, rowsToRead(search, PAGE));
    const [rows] = await this.db.read<[PersonRow]>({ organizationId }, query);
    return matching(rows, search, PAGE);
  }

  /** @throws PageError 404 for somebody who is neither a student nor a parent here */
  async payer({ organizationId }: Membership, id: string) {
    const [[found], [terms]] = await this.db.read<[PayerRow, TermsRow]>(
      { organizationId },
      payer(organizationId, id),
      termsOf(organizationId),
    );
    if (!found) throw PageError.notFound();
    return { payer: found, terms: terms! };
  }

  /** @throws PageError 404 for somebody who is neither a student nor a parent here */
  async family({ organizationId }: Membership, id: string) {
    const at = { organizationId };
    const [[found]] = await this.db.read<[PayerRow]>(at, payer(organizationId, id));
    if (!found) throw PageError.notFound();
    const students = studentsOf(organizationId, found);
    const relatives = found.as === 'student' ? parentsOf(organizationId, id) : childrenOf(organizationId, id);
    const [relations, [balance], invoices, payments, [terms]] = await this.db.read<
      [PayerRow, BalanceRow, InvoiceRow, PaymentRow, TermsRow]
    >(
      at,
      relatives,
      balanceOf(organizationId, students, id),
      invoicesOf(organizationId, students, MOST_OF_FAMILY),
      paymentsOf(organizationId, students, id, MOST_OF_FAMILY),
      termsOf(organizationId),
    );
    return { payer: found, relations, balance: balance!, invoices, payments, terms: terms!, most: MOST_OF_FAMILY };
  }

  /** @throws PageError 404 if the organization has no such payment */
  async payment({ organizationId }: Membership, id: string) {
    const [[found], applied, [terms]] = await this.db.read<[PaymentRow, AppliedRow, TermsRow]>(
      { organizationId },
      payment(organizationId, id),
      appliedOf(organizationId, sql`a.payment_id = ${id}`),
      termsOf(organizationId),
    );
    if (!found) throw PageError.notFound();
    return { payment: found, applied, terms: terms! };
  }
}
