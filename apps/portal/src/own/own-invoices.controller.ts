import { Controller, Get, Param, Query } from '@nestjs/common';
import {
  type SeenBalance,
  seenBalance,
  type SeenInvoice,
  seenInvoices,
  type SeenPayment,
  seenPayments,
} from '@app/billing';
import { Database, pageOf } from '@app/database';
import { payUrlFor } from '@app/people';
import sql from 'sql-template-tag';
import { moneyWords } from '../money/money-words.js';
import { PaperLinks } from '../money/paper-links.js';
import { ForParents, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';

/** Rows of a page. */
const ROWS = 25;

/** How an organization is paid. */
interface TermsRow {
  currency: string;
  instructions: string | null;
  pay_url: string | null;
}

/** A parent's invoices and payments; `seenInvoices` decides which these are. */
@Controller('my/:slug')
@ForParents()
export class OwnInvoicesController {
  constructor(
    private readonly db: Database,
    private readonly papers: PaperLinks,
  ) {}

  @Get('invoices')
  @InNavigation('Money', 'Invoices')
  async list(@Managing() { organizationId, by: { userId } }: Managed, @Query('after') asked: unknown): Promise<Page> {
    const after = readPosition(asked);
    const [rows, [balance], payments, [terms]] = await this.db.read<[SeenInvoice, SeenBalance, SeenPayment, TermsRow]>(
      { organizationId },
      seenInvoices(organizationId, userId, after, ROWS + 1),
      seenBalance(organizationId, userId),
      seenPayments(organizationId, userId, ROWS),
      sql`SELECT currency, payment_instructions AS instructions, pay_url FROM organizations WHERE id = ${organizationId}`,
    );
    const { rows: invoices, next } = pageOf(rows, ROWS, 'created_at');
    const { pay_url: payUrl, instructions, currency } = terms!;
    return page('own/invoices', {
      ...{ balance: balance!, payments, instructions, most: ROWS, isFirst: after === null },
      invoices: invoices.map((one) => ({ ...one, pay: payUrl && payAt(payUrl, one) })),
      next: next && queryOf({ after: positionText(next) }),
      ...moneyWords(currency),
    });
  }

  @Get('invoices/:invoice_id/pdf')
  invoice(@Managing() me: Managed, @Param('invoice_id') id: string): Promise<SeeOther> {
    return this.papers.leadParent(me, 'invoice', pathId(id));
  }

  @Get('payments/:payment_id/receipt')
  receipt(@Managing() me: Managed, @Param('payment_id') id: string): Promise<SeeOther> {
    return this.papers.leadParent(me, 'receipt', pathId(id));
  }
}

/** Where whoever it was billed to pays what is left; null if nothing is. */
function payAt(template: string, { mine, status, number, due, paid }: SeenInvoice): URL | null {
  return mine && status === 'open' ? payUrlFor(template, { number, amountCents: BigInt(due - paid!) }) : null;
}
