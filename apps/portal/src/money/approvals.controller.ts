import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { type ClaimAction, Claims } from '@app/billing';
import { decimalOf } from '@app/exports';
import { CLAIM } from '@app/database';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { formats } from '../web/formats.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { readPosition } from '../web/paging.js';
import { centsOf, moneyIn } from './amounts.js';
import { queryOf, readFilter } from './approvals.filter.js';
import { ApprovalsService } from './approvals.service.js';

/** What tutors claim for trips and expenses, for owners and admins to decide. */
@Controller('o/:slug/money/approvals')
@ForManagers()
export class ApprovalsController {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly operations: FormOperations,
    private readonly claims: Claims,
  ) {}

  @Get()
  @InNavigation('Money', 'Claims', 5)
  async list(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const [filter, after] = [readFilter(query), readPosition(query.after)];
    const { rows, currency, next } = await this.approvals.list(organization, filter, after);
    const { date } = formats('UTC');
    return page('money/approvals', {
      ...{ claims: rows, filter, current: queryOf(filter, after), next: next && queryOf(filter, next), queryOf },
      isFirst: after === null,
      money: moneyIn(currency),
      day: (day: string) => date(new Date(day)),
      decimal: (cents: number) => decimalOf(BigInt(cents)),
    });
  }

  @Post('mileage/:trip_id/:action')
  decideTrip(@Managing() organization: Managed, @Param('trip_id') id: string, @Param('action') named: string) {
    const [ids, action] = [{ trip_id: pathId(id) }, actionOf(named)];
    const run = () => this.claims.decide(organization.organizationId, 'mileage', action, ids.trip_id);
    const told = toldOf(action);
    return this.operations.answer(
      organization,
      `POST /v1/mileage/:trip_id/${action}`,
      ids,
      run,
      listOf(organization),
      told,
    );
  }

  @Post('expenses/:claim_id/:action')
  decideExpense(@Managing() organization: Managed, @Param('claim_id') id: string, @Param('action') named: string) {
    const [ids, action] = [{ claim_id: pathId(id) }, actionOf(named)];
    const amount = action === 'approve' ? organization.form.text('amount') : '';
    const cents = amount === '' ? null : centsOf(amount);
    if (amount !== '' && cents === null)
      return seeOther(listOf(organization), 'problem', 'Enter an amount such as 12.50.');
    const run = () => this.claims.decide(organization.organizationId, 'expense', action, ids.claim_id, cents);
    const told = toldOf(action);
    return this.operations.answer(
      organization,
      `POST /v1/expenses/:claim_id/${action}`,
      ids,
      run,
      listOf(organization),
      told,
    );
  }
}

/** @throws PageError 404 for anything else */
function actionOf(named: string): ClaimAction {
  const action = CLAIM.actions.find((one) => one === named);
  if (!action) throw PageError.notFound();
  return action;
}

/** The page that the form was on. */
function listOf({ slug, form }: Managed): string {
  const query = Object.fromEntries(new URLSearchParams(form.text('from')));
  return `/o/${slug}/money/approvals${queryOf(readFilter(query), readPosition(query.after))}`;
}

const toldOf = (action: ClaimAction) => (changed: boolean) => (changed ? DONE[action] : 'That was done before.');

const DONE: Record<ClaimAction, string> = {
  approve: 'The claim was approved.',
  reject: 'The claim was rejected.',
  reimburse: 'The claim was marked as reimbursed.',
};
