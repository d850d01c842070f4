import { Controller, Get, Query, type StreamableFile } from '@nestjs/common';
import { Database } from '@app/database';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { type Cell, inParts, Spreadsheets } from '../web/spreadsheets.js';
import { type Book, type BookRow, INVOICES, PAYMENTS, XERO } from './books.queries.js';
import { eachMonth, readMonths } from './months.js';

/** Invoices and payments of some months, as files for a spreadsheet. */
@Controller('o/:slug/money')
@ForManagers()
export class BooksController {
  constructor(
    private readonly db: Database,
    private readonly spreadsheets: Spreadsheets,
  ) {}

  @Get('invoices/download')
  invoices(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<StreamableFile> {
    return this.file(INVOICES, organization, query);
  }

  /** For Xero, which takes the same. */
  @Get('invoices/download-xero')
  xero(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<StreamableFile> {
    return this.file(XERO, organization, query);
  }

  @Get('payments/download')
  payments(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<StreamableFile> {
    return this.file(PAYMENTS, organization, query);
  }

  private file(book: Book, organization: Managed, query: Record<string, unknown>): Promise<StreamableFile> {
    const { slug, timeZone } = organization;
    const chosen = readMonths(query, new Date(), timeZone);
    const months = eachMonth(chosen, timeZone);
    return this.spreadsheets.send(organization, {
      name: `${book.name}-${slug}-${chosen.from}-to-${chosen.to}`,
      columns: book.columns,
      parts: this.rows(book, organization.organizationId, months[0]!.sinceDay, months.at(-1)!.untilDay),
    });
  }

  /** Ids first, which are small, then the rows of each part. */
  private async *rows(book: Book, organizationId: string, since: string, until: string) {
    const [ids] = await this.db.read<[{ id: string }]>({ organizationId }, book.ids(organizationId, since, until));
    for await (const part of inParts(ids.map(({ id }) => id))) {
      const [rows] = await this.db.read<[BookRow]>({ organizationId }, book.rows(organizationId, part));
      yield rows.map((row) => Object.fromEntries(Object.entries(row).map(inCents)));
    }
  }
}

function inCents([name, value]: [string, string | null]): [string, Cell] {
  const cents = name.endsWith('_cents') && value !== null;
  return [name.replace(/_cents$/, ''), cents ? BigInt(value) : value];
}
