import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import type { Membership } from '../web/sessions.js';
import { type TermsRow, termsOf } from './invoices.queries.js';
import type { eachMonth } from './months.js';
import {
  type By,
  invoicedByMonth,
  type MonthSumRow,
  receivedByMonth,
  taught,
  type TaughtRow,
} from './reports.queries.js';

/** A line of a report. Amounts are cents; what was invoiced and received is known by month alone. */
export interface ReportRow extends TaughtRow {
  invoiced: number | null;
  received: number | null;
}

/** Sums of some months, to be read. */
@Injectable()
export class Reports {
  constructor(private readonly db: Database) {}

  async of({ organizationId }: Membership, by: By, months: ReturnType<typeof eachMonth>, most: number) {
    const at = { organizationId };
    const lessons = taught(organizationId, by, months, most);
    if (by !== 'month') {
      const [rows, [terms]] = await this.db.read<[TaughtRow, TermsRow]>(at, lessons, termsOf(organizationId));
      return { rows: rows.map((row): ReportRow => ({ ...row, invoiced: null, received: null })), terms: terms! };
    }
    const [rows, invoiced, received, [terms]] = await this.db.read<[TaughtRow, MonthSumRow, MonthSumRow, TermsRow]>(
      at,
      lessons,
      invoicedByMonth(organizationId, months),
      receivedByMonth(organizationId, months),
      termsOf(organizationId),
    );
    const sumIn = (sums: MonthSumRow[], month: string) => sums.find((one) => one.month === month)?.cents ?? 0;
    const each = months.map(({ month }): ReportRow => {
      const held = rows.find(({ id }) => id === month) ?? { lessons: 0, minutes: 0, billed: 0, pay: 0 };
      return { ...held, id: month, name: month, invoiced: sumIn(invoiced, month), received: sumIn(received, month) };
    });
    return { rows: each, terms: terms! };
  }
}
