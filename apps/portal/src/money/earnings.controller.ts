import { Controller, Get, Query, Res } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import type { Response } from 'express';
import { Earnings } from '@app/billing';
import { Database } from '@app/database';
import { CSV } from '../web/csv.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { decimalOf } from './amounts.js';
import { currencyOf, staffNames } from './approvals.queries.js';
import { eachMonth, readMonths } from './months.js';

/** What tutors earned and were paid, month by month, as a file for a spreadsheet. */
@Controller('o/:slug/money/approvals/download')
@ForManagers()
export class EarningsController {
  constructor(
    private readonly db: Database,
    private readonly earnings: Earnings,
  ) {}

  @Get()
  async download(
    @Managing() { organizationId, slug, timeZone }: Managed,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const chosen = readMonths(query, new Date(), timeZone);
    const months = eachMonth(chosen, timeZone);
    const [staff, [organization]] = await this.db.read<[{ id: string; name: string | null }, { currency: string }]>(
      { organizationId },
      staffNames(organizationId),
      currencyOf(organizationId),
    );
    const names = new Map(staff.map(({ id, name }) => [id, name]));
    const sums = await this.earnings.sums({ organizationId }, months);
    const rows = sums
      .filter(({ sessions, earnedCents, paidOutCents }) => sessions > 0 || earnedCents !== 0 || paidOutCents !== 0)
      .map(({ tutorId, period, sessions, earnedCents, paidOutCents }) => ({
        month: months[period]!.month,
        tutor_id: tutorId,
        tutor: names.get(tutorId),
        sessions,
        earned: BigInt(earnedCents),
        paid_out: BigInt(paidOutCents),
        unpaid: BigInt(earnedCents - paidOutCents),
        currency: organization!.currency,
      }));
    response.type('text/csv').attachment(`earnings-${slug}-${chosen.from}-to-${chosen.to}.csv`);
    return stringify(rows, { ...CSV, columns: COLUMNS, cast: { ...CSV.cast, bigint: decimalOf } });
  }
}

const COLUMNS = ['month', 'tutor_id', 'tutor', 'sessions', 'earned', 'paid_out', 'unpaid', 'currency'];
