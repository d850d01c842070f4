import { Controller, Get, Query, Res } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import type { Response } from 'express';
import type { Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { CSV } from '../web/csv.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { decimalOf } from './amounts.js';
import { type BookRow, invoicesBetween, paymentsBetween } from './books.queries.js';
import { eachMonth, readMonths } from './months.js';

/** Invoices and payments of some months, as files for a spreadsheet. */
@Controller('o/:slug/money')
@ForManagers()
export class BooksController {
  constructor(private readonly db: Database) {}

  @Get('invoices/download')
  invoices(
    @Managing() organization: Managed,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.file('invoices', invoicesBetween, organization, query, response);
  }

  @Get('payments/download')
  payments(
    @Managing() organization: Managed,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.file('payments', paymentsBetween, organization, query, response);
  }

  private async file(
    what: string,
    rowsBetween: (organizationId: string, since: string, until: string) => Sql,
    { organizationId, slug, timeZone }: Managed,
    query: Record<string, unknown>,
    response: Response,
  ): Promise<string> {
    const chosen = readMonths(query, new Date(), timeZone);
    const months = eachMonth(chosen, timeZone);
    const [since, until] = [months[0]!.sinceDay, months.at(-1)!.untilDay];
    const [rows] = await this.db.read<[BookRow]>({ organizationId }, rowsBetween(organizationId, since, until));
    response.type('text/csv').attachment(`${what}-${slug}-${chosen.from}-to-${chosen.to}.csv`);
    const decimals = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name.replace(/_cents$/, ''),
          name.endsWith('_cents') && value !== null ? decimalOf(BigInt(value)) : value,
        ]),
      ),
    );
    const columns = what === 'invoices' ? INVOICE_COLUMNS : PAYMENT_COLUMNS;
    return stringify(decimals, { ...CSV, columns });
  }
}

const INVOICE_COLUMNS = [
  'month', 'issued_on', 'number', 'invoice_id', 'student_id', 'student', 'status', 'due_on', 'amount', 'paid', 'currency',
]; // prettier-ignore
const PAYMENT_COLUMNS = [
  'month', 'received_on', 'payment_id', 'payer_id', 'payer', 'type', 'status', 'amount', 'refunded', 'credit', 'currency',
]; // prettier-ignore
