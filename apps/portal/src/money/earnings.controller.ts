import { Controller, Get, Query, type StreamableFile } from '@nestjs/common';
import { Earnings } from '@app/billing';
import { Database } from '@app/database';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { inParts, Spreadsheets } from '../web/spreadsheets.js';
import { currencyOf, staffNames } from './approvals.queries.js';
import { eachMonth, readMonths } from './months.js';

/** What tutors earned and were paid, month by month, as a file for a spreadsheet. */
@Controller('o/:slug/money/approvals/download')
@ForManagers()
export class EarningsController {
  constructor(
    private readonly db: Database,
    private readonly earnings: Earnings,
    private readonly spreadsheets: Spreadsheets,
  ) {}

  @Get()
  download(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<StreamableFile> {
    const { slug, timeZone } = organization;
    const chosen = readMonths(query, new Date(), timeZone);
    return this.spreadsheets.send(organization, {
      name: `earnings-${slug}-${chosen.from}-to-${chosen.to}`,
      columns: COLUMNS,
      parts: this.rows(organization.organizationId, eachMonth(chosen, timeZone)),
    });
  }

  private async *rows(organizationId: string, months: ReturnType<typeof eachMonth>) {
    const [staff, [organization]] = await this.db.read<[{ id: string; name: string | null }, { currency: string }]>(
      { organizationId },
      staffNames(organizationId),
      currencyOf(organizationId),
    );
    const names = new Map(staff.map(({ id, name }) => [id, name]));
    const sums = await this.earnings.sums({ organizationId }, months);
    const earned = sums.filter(
      ({ sessions, earnedCents, paidOutCents }) => sessions > 0 || earnedCents !== 0 || paidOutCents !== 0,
    );
    for await (const part of inParts(earned)) {
      yield part.map(({ tutorId, period, sessions, earnedCents, paidOutCents }) => ({
        month: months[period]!.month,
        tutor_id: tutorId,
        tutor: names.get(tutorId),
        sessions,
        earned: BigInt(earnedCents),
        paid_out: BigInt(paidOutCents),
        unpaid: BigInt(earnedCents - paidOutCents),
        currency: organization!.currency,
      }));
    }
  }
}

const COLUMNS = ['month', 'tutor_id', 'tutor', 'sessions', 'earned', 'paid_out', 'unpaid', 'currency'];
