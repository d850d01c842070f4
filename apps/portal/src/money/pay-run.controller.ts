import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Adjustments, Payouts, PayRun } from '@app/billing';
import { canonicalUuid } from '@app/database';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations, SENT_BEFORE } from '../web/operations.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { answered, type Errors } from '../web/answered.js';
import { readAdjustment, readReason, readSums, fieldOf } from './money-forms.js';
import { moneyWords } from './money-words.js';
import { outcomeOf } from './outcomes.js';
import { type Month, monthOf, PayRuns } from './pay-runs.js';

const ROWS = 25;
/** How many are paid at a time. */
const MOST = 100;

/** What tutors are due for a month, and paying all of them. */
@Controller('o/:slug/money/pay-run')
@ForManagers()
export class PayRunController {
  constructor(
    private readonly runs: PayRuns,
    private readonly run: PayRun,
    private readonly operations: FormOperations,
    private readonly adjustments: Adjustments,
    private readonly payouts: Payouts,
  ) {}

  @Get()
  @InNavigation('Money', 'Pay run', 6)
  async list(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const [month, after] = [monthOf(asked.month, organization), readPosition(asked.after)];
    const { rows, terms, next } = await this.runs.due(organization, month, after, ROWS);
    return page('money/pay-run', {
      ...{ tutors: rows, month, isFirst: after === null, first: queryOf({ month: month.month }) },
      after: after && positionText(after),
      next: next && queryOf({ month: month.month, after: positionText(next) }),
      ...moneyWords(terms.currency),
    });
  }

  /** Names count and sum of those who were ticked, or else of all, which the form sends along. */
  @Get('record')
  async confirm(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const month = monthOf(asked.month, organization);
    const ticked = [asked.tutor].flat().flatMap((id) => (typeof id === 'string' ? (canonicalUuid(id) ?? []) : []));
    const { rows, terms, next } = await this.runs.due(organization, month, readPosition(asked.after), MOST);
    const owed = rows.filter(({ id, due }) => due > 0 && (asked.ticked !== 'yes' || ticked.includes(id)));
    return page('money/pay-run-record', { tutors: owed, month, more: next !== null, ...moneyWords(terms.currency) });
  }

  /** Each in a transaction of its own, so that one that is refused keeps none of the others back. */
  @Post('record')
  async record(@Managing() organization: Managed): Promise<Page | SeeOther> {
    const { form, organizationId, slug } = organization;
    const month = monthOf(form.text('month'), organization);
    const sums = readSums(form, 'payouts', MOST);
    const told = new Map<string, string | boolean>();
    for (const { id, cents } of sums) told.set(id, await this.payOne(organization, id, month, Number(cents)));
    const back = `/o/${slug}/money/pay-run?month=${month.month}`;
    if (sums.every(({ id }) => told.get(id) === false)) return seeOther(back, 'notice', SENT_BEFORE);
    const results = sums.map(({ id, cents }) => ({ id, cents: Number(cents), why: told.get(id) }));
    const { rows, terms } = await this.runs.named(organizationId, results);
    return page('money/pay-run-recorded', { results: rows, month, ...moneyWords(terms.currency) });
  }

  @Get(':user_id')
  tutor(
    @Managing() organization: Managed,
    @Param('user_id') id: string,
    @Query() asked: Record<string, unknown>,
  ): Promise<Page> {
    return this.shown(organization, pathId(id), monthOf(asked.month, organization));
  }

  @Post(':user_id/adjust')
  async adjust(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const [tutorId, month] = [pathId(id), monthOf(organization.form.text('month'), organization)];
    const read = readAdjustment(organization.form);
    const again = (errors: Errors) => this.shown(organization, tutorId, month, errors);
    if ('errors' in read) return again(read.errors);
    const period = { periodStart: month.sinceDay, periodEnd: month.untilDay };
    const work = this.operations.perform(organization, 'POST /v1/adjustments', {}, async () => {
      const added = { tutorId, ...period, ...read.value };
      return { audit: { adjustment_id: await this.adjustments.add(organization.organizationId, added) } };
    });
    return answered(
      work,
      { back: this.pageOf(organization, tutorId, month), done: 'The adjustment was added.' },
      again,
      fieldOf,
    );
  }

  @Post(':user_id/void-adjustment')
  async voidAdjustment(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const [tutorId, month] = [pathId(id), monthOf(organization.form.text('month'), organization)];
    const ids = { adjustment_id: pathId(organization.form.text('adjustment_id')) };
    const work = this.operations.perform(organization, 'POST /v1/adjustments/:adjustment_id/void', ids, () =>
      this.adjustments.void(organization.organizationId, ids.adjustment_id),
    );
    const to = { back: this.pageOf(organization, tutorId, month), done: 'The adjustment was taken back.' };
    return answered(work, to, (errors) => this.shown(organization, tutorId, month, errors), fieldOf);
  }

  /** A payout that was entered by mistake. */
  @Post(':user_id/void-payout')
  async voidPayout(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const [tutorId, month] = [pathId(id), monthOf(organization.form.text('month'), organization)];
    const ids = { payout_id: pathId(organization.form.text('payout_id')) };
    const reason = readReason(organization.form);
    const again = (errors: Errors) => this.shown(organization, tutorId, month, errors);
    if ('errors' in reason) return again(reason.errors);
    const work = this.operations.perform(organization, 'POST /v1/payouts/:payout_id/void', ids, () =>
      this.payouts.void(organization.organizationId, ids.payout_id, reason.value),
    );
    return answered(
      work,
      { back: this.pageOf(organization, tutorId, month), done: 'The payout was taken back.' },
      again,
      fieldOf,
    );
  }

  private payOne(organization: Managed, id: string, month: Month, cents: number): Promise<string | boolean> {
    const { organizationId } = organization;
    const pay = async () => ({ audit: { payout_id: await this.run.pay(organizationId, id, month, cents) } });
    const performed = this.operations.perform(organization, 'POST /v1/payouts', {}, pay, { part: id });
    return outcomeOf(performed, async () => {
      const { rows } = await this.runs.named(organizationId, [{ id }]);
      return rows.length > 0;
    });
  }

  private pageOf({ slug }: Managed, tutorId: string, { month }: Month): string {
    return `/o/${slug}/money/pay-run/${tutorId}?month=${month}`;
  }

  private async shown(organization: Managed, id: string, month: Month, errors: Errors | null = null): Promise<Page> {
    const { due, adjustments, payouts, terms } = await this.runs.tutor(organization, month, id);
    const data = {
      ...{ tutor: due, adjustments, payouts, month, errors: errors ?? {} },
      valueOf: (name: string) => (errors ? organization.form.text(name) : ''),
      ...moneyWords(terms.currency),
    };
    return page('money/pay-run-tutor', data, errors ? 422 : 200);
  }
}
