import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import type { ClaimAction } from '@app/billing';
import { CLAIM } from '@app/database';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { formats } from '../web/formats.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { readPlace } from '../web/place.js';
import { unlessRefused } from '../web/refusals.js';
import { decimalOf } from '../web/decimals.js';
import { centsOf, moneyIn } from './amounts.js';
import { queryOf, readFilter } from './approvals.filter.js';
import type { ClaimRow } from './approvals.queries.js';
import { ApprovalsService } from './approvals.service.js';
import { monthsUntil } from './months.js';

/** What tutors claim for trips and expenses, for owners and admins to decide. */
@Controller('o/:slug/money/approvals')
@ForManagers()
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Get()
  async list(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const [filter, after] = [readFilter(query), readPlace(query.after)];
    const { rows, currency, next } = await this.approvals.list(organization, filter, after);
    const { date } = formats('UTC');
    return page('money/approvals', {
      ...{ claims: rows, filter, current: queryOf(filter, after), next: next && queryOf(filter, next), queryOf },
      isFirst: after === null,
      money: moneyIn(currency),
      day: (day: string) => date(new Date(day)),
      decimal: (cents: number) => decimalOf(BigInt(cents)),
      months: monthsUntil(new Date(), organization.timeZone),
    });
  }

  @Post('mileage/:trip_id/:action')
  decideTrip(@Managing() organization: Managed, @Param('trip_id') id: string, @Param('action') action: string) {
    return this.decide(organization, 'mileage', pathId(id), action);
  }

  @Post('expenses/:claim_id/:action')
  decideExpense(@Managing() organization: Managed, @Param('claim_id') id: string, @Param('action') action: string) {
    return this.decide(organization, 'expenses', pathId(id), action);
  }

  private async decide(organization: Managed, kind: ClaimRow['kind'], id: string, named: string): Promise<SeeOther> {
    const { slug, by, form } = organization;
    const action = CLAIM.actions.find((one) => one === named);
    if (!action) throw PageError.notFound();
    const query = Object.fromEntries(new URLSearchParams(form.text('from')));
    const list = `/o/${slug}/money/approvals${queryOf(readFilter(query), readPlace(query.after))}`;
    const amount = kind === 'expenses' && action === 'approve' ? form.text('amount') : '';
    const cents = amount === '' ? null : centsOf(amount);
    if (amount !== '' && cents === null) return seeOther(list, 'problem', 'Enter an amount such as 12.50.');
    return unlessRefused(
      this.approvals
        .decide(organization, by, kind, action, id, cents)
        .then((changed) => seeOther(list, 'success', changed ? DONE[action] : 'That was done before.')),
      ({ kind: tone, text }) => seeOther(list, tone, text),
    );
  }
}

const DONE: Record<ClaimAction, string> = {
  approve: 'The claim was approved.',
  reject: 'The claim was rejected.',
  reimburse: 'The claim was marked as reimbursed.',
};
