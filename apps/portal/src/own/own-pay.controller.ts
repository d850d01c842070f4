import { Controller, Get, Query } from '@nestjs/common';
import { PayRun } from '@app/billing';
import { Database, pageOf } from '@app/database';
import { currencyOf } from '../money/approvals.queries.js';
import { moneyWords } from '../money/money-words.js';
import { monthOf } from '../money/pay-runs.js';
import { ForTutors, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import {
  type AdjustedRow, adjustedOf, type ClaimedRow, claimedBy, heldBy, type HeldRow, minutesOf, type PaidRow, paidTo,
} from './own-pay.queries.js'; // prettier-ignore

const ROWS = 25;

/** What somebody earned in a month: what the pay run of owners and admins shows of them. */
@Controller('my/:slug/pay')
@ForTutors()
export class OwnPayController {
  constructor(
    private readonly db: Database,
    private readonly run: PayRun,
  ) {}

  @Get()
  @InNavigation('Pay')
  async show(@Managing() me: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const { organizationId, by } = me;
    const [month, after] = [monthOf(asked.month, me), readPosition(asked.after)];
    const of = [organizationId, by.userId, month] as const;
    const [[due], [held, [time], adjustments, payouts, claims, [currency]]] = await Promise.all([
      this.run.list({ organizationId }, month, null, 1, by.userId),
      this.db.read<[HeldRow, { minutes: number }, AdjustedRow, PaidRow, ClaimedRow, { currency: string }]>(
        { organizationId },
        heldBy(...of, after, ROWS + 1),
        minutesOf(...of),
        adjustedOf(...of, ROWS),
        paidTo(...of, ROWS),
        claimedBy(...of),
        currencyOf(organizationId),
      ),
    ]);
    const { rows, next } = pageOf(held, ROWS, 'startsAt');
    return page('own/pay', {
      ...{ month, due, lessons: rows, minutes: time!.minutes, adjustments, payouts, claims },
      isFirst: after === null,
      first: queryOf({ month: month.month }),
      next: next && queryOf({ month: month.month, after: positionText(next) }),
      ...moneyWords(currency!.currency),
    });
  }
}
