import { Controller, Get, Query, type StreamableFile } from '@nestjs/common';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { queryOf } from '../web/paging.js';
import { inParts, Spreadsheets } from '../web/spreadsheets.js';
import { chartOf } from './month-chart.js';
import { moneyWords } from './money-words.js';
import { eachMonth, monthsUntil, readMonths } from './months.js';
import type { By } from './reports.queries.js';
import { type ReportRow, Reports } from './reports.js';

/** The most months of a report; tutors or subjects of its page, and of its file. */
const MOST_MONTHS = 12;
const MOST_SHOWN = 50;
const MOST_ROWS = 20_000;

const BY = { month: 'Month', tutor: 'Tutor', subject: 'Subject' } as const;

/** What came in and was taught: by month, tutor and subject. */
@Controller('o/:slug/money/reports')
@ForManagers()
export class ReportsController {
  constructor(
    private readonly reports: Reports,
    private readonly spreadsheets: Spreadsheets,
  ) {}

  @Get()
  @InNavigation('Money', 'Reports', 7)
  async show(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const { by, chosen, months } = readReport(organization, query);
    const { rows, terms } = await this.reports.of(organization, by, months, MOST_SHOWN + 1);
    const { month } = monthWords();
    return page('money/reports', {
      ...{ rows: rows.slice(0, MOST_SHOWN), by, kinds: BY, chosen, most: MOST_SHOWN, more: rows.length > MOST_SHOWN },
      ...moneyWords(terms.currency),
      ...{ nameOf: (row: ReportRow) => nameOf(by, row, month), month },
      chart: by === 'month' ? chartOf(rows) : null,
      ...{ download: queryOf({ by, ...chosen }), span: queryOf({ ...chosen }) },
      months: monthsUntil(new Date(), organization.timeZone),
    });
  }

  @Get('download')
  async download(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<StreamableFile> {
    const { by, chosen, months } = readReport(organization, query);
    const income = by === 'month' ? ['invoiced', 'received'] : [];
    return this.spreadsheets.send(organization, {
      name: `by-${by}-${organization.slug}-${chosen.from}-to-${chosen.to}`,
      columns: [
        by,
        ...(by === 'month' ? [] : [`${by}_id`]),
        'lessons',
        'hours',
        'billed',
        'pay',
        ...income,
        'currency',
      ],
      parts: this.rows(organization, by, months),
    });
  }

  private async *rows(organization: Managed, by: By, months: ReturnType<typeof eachMonth>) {
    const { rows, terms } = await this.reports.of(organization, by, months, MOST_ROWS);
    for await (const part of inParts(rows)) {
      yield part.map(({ id, name, lessons, minutes, billed, pay, invoiced, received }) => ({
        ...{ [by]: name, [`${by}_id`]: id, lessons, hours: (minutes / 60).toFixed(2) },
        ...{ billed: BigInt(billed), pay: BigInt(pay), currency: terms.currency },
        ...{
          invoiced: invoiced === null ? null : BigInt(invoiced),
          received: received === null ? null : BigInt(received),
        },
      }));
    }
  }
}

function readReport({ timeZone }: Managed, query: Record<string, unknown>) {
  const by = typeof query.by === 'string' && Object.hasOwn(BY, query.by) ? (query.by as By) : 'month';
  const chosen = readMonths(query, new Date(), timeZone, MOST_MONTHS);
  return { by, chosen, months: eachMonth(chosen, timeZone) };
}

function nameOf(by: By, { id, name }: ReportRow, month: (month: string) => string): string {
  if (by === 'month') return month(id!);
  return name?.trim() || (id === null ? 'No subject' : 'Without a name');
}

/** `Nov 2026` for `2026-11`. */
function monthWords() {
  const format = new Intl.DateTimeFormat('en-AU', { month: 'short', year: 'numeric', timeZone: 'UTC' });
  return { month: (month: string): string => format.format(new Date(`${month}-01`)) };
}
