import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import sql from 'sql-template-tag';
import { EXPENSE_CLAIMS, LoggedClaims, MILEAGE_TRIPS } from '@app/billing';
import { Env } from '@app/config';
import { Database, Deadline, pageOf } from '@app/database';
import { Rows } from '@app/rows';
import { dayOf } from '@app/scheduling';
import { FileLinks, FILES } from '@app/teaching';
import { claimsThat, currencyOf, type OwnClaimRow } from '../money/approvals.queries.js';
import { moneyWords } from '../money/money-words.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { ForTutors, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { NoPicture, Pictures } from '../web/pictures.js';
import { CATEGORIES, readExpense, readTrip } from './claim-forms.js';
import { lastRateOf, receiptOf } from './own-claims.queries.js';
import { Receipts } from './receipts.js';

const ROWS = 25;

/** The most of a photo (MB). */
const MOST = 10;

/** How long the database may take once a photo is here (ms). */
const LONGEST = 10_000;

type Currency = { currency: string };

/** What somebody claims for trips and expenses: owners and admins decide. */
@Controller('my/:slug/claims')
@ForTutors()
export class OwnClaimsController {
  constructor(
    private readonly db: Database,
    private readonly operations: FormOperations,
    private readonly claims: LoggedClaims,
    private readonly rows: Rows,
    private readonly receipts: Receipts,
    private readonly links: FileLinks,
    private readonly pictures: Pictures,
    private readonly env: Env,
  ) {}

  @Get()
  @InNavigation('Claims')
  async list(@Managing() { organizationId, by }: Managed, @Query('after') asked: unknown): Promise<Page> {
    const after = readPosition(asked);
    const [found, [terms]] = await this.db.read<[OwnClaimRow, Currency]>(
      { organizationId },
      claimsThat(organizationId, sql`AND c.tutor_id = ${by.userId}`, after, ROWS + 1),
      currencyOf(organizationId),
    );
    const { rows, next } = pageOf(found, ROWS, 'created_at');
    const paging = { isFirst: after === null, next: next && queryOf({ after: positionText(next) }) };
    return page('own/claims', { claims: rows, CATEGORIES, ...paging, ...moneyWords(terms!.currency) });
  }

  @Get('expense')
  expense(@Managing() me: Managed): Promise<Page> {
    return this.expenseForm(me);
  }

  @Post('expense')
  async claimExpense(@Managing() sent: Managed): Promise<Page | SeeOther> {
    const received = await this.pictures.receive(sent, MOST).catch((error: unknown) => {
      if (error instanceof NoPicture) return error;
      throw error;
    });
    const me = { ...sent, form: received.form ?? sent.form };
    // The time that a photo takes to arrive and to be encoded does not count.
    return new Deadline(LONGEST).within(() =>
      received instanceof NoPicture
        ? this.expenseForm(me, { picture: received.message })
        : answered(
            this.addExpense(me, received.picture),
            { back: listOf(me), done: 'Your claim was sent. The receipt is seen by you and by those who decide.' },
            (errors) => this.expenseForm(me, errors),
            fieldOf,
          ),
    );
  }

  @Get('trip')
  trip(@Managing() me: Managed): Promise<Page> {
    return this.tripForm(me);
  }

  @Post('trip')
  claimTrip(@Managing() me: Managed): Promise<Page | SeeOther> {
    const { organizationId, form, by } = me;
    const claim = async () => {
      const values = { ...readTrip(form, this.env), tutor_id: by.userId };
      const run = async () => ({ audit: { trip_id: await this.claims.add(organizationId, MILEAGE_TRIPS, values) } });
      return this.operations.perform(me, 'POST /v1/mileage', {}, run, { teaching: true });
    };
    const to = { back: listOf(me), done: 'Your claim was sent.' };
    return answered(claim(), to, (errors) => this.tripForm(me, errors), fieldOf);
  }

  /** Leads to the photo, for 15 minutes and for this person. */
  @Get('expenses/:claim_id/receipt')
  async receipt(@Managing() { organizationId, by }: Managed, @Param('claim_id') id: string): Promise<SeeOther> {
    const [[file]] = await this.db.read<[{ id: string }]>(
      { organizationId },
      receiptOf(organizationId, by.userId, pathId(id)),
    );
    if (!file) throw PageError.notFound();
    return seeOther(this.env.apiUrl + (await this.links.of(organizationId, 'tutor', by.userId, file.id)));
  }

  @Post('expenses/:claim_id/withdraw')
  withdrawExpense(@Managing() me: Managed, @Param('claim_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, by } = me;
    const ids = { claim_id: pathId(id) };
    const run = async () => {
      const [file] = await this.db.query<{ id: string }>(receiptOf(organizationId, by.userId, ids.claim_id));
      await this.claims.withdraw(organizationId, EXPENSE_CLAIMS, by.userId, ids.claim_id);
      if (file) await this.rows.remove(organizationId, FILES, file.id);
    };
    return this.withdrawn(
      me,
      this.operations.perform(me, 'DELETE /v1/expenses/:claim_id', ids, run, { teaching: true }),
    );
  }

  @Post('mileage/:trip_id/withdraw')
  withdrawTrip(@Managing() me: Managed, @Param('trip_id') id: string): Promise<Page | SeeOther> {
    const ids = { trip_id: pathId(id) };
    const run = () => this.claims.withdraw(me.organizationId, MILEAGE_TRIPS, me.by.userId, ids.trip_id);
    return this.withdrawn(me, this.operations.perform(me, 'DELETE /v1/mileage/:trip_id', ids, run, { teaching: true }));
  }

  private withdrawn(me: Managed, work: Promise<unknown>): Promise<Page | SeeOther> {
    return answered(work, { back: listOf(me), done: 'The claim was withdrawn.' }, () =>
      Promise.reject(PageError.badForm()),
    );
  }

  private async addExpense(me: Managed, picture: Parameters<Receipts['keep']>[2]) {
    const { organizationId, form, by } = me;
    const values = { ...readExpense(form, this.env), tutor_id: by.userId };
    return this.receipts.keep(organizationId, by.userId, picture, (file) => {
      const run = async () => {
        const receipt = file && { receipt_file_id: await file() };
        return {
          audit: { claim_id: await this.claims.add(organizationId, EXPENSE_CLAIMS, { ...values, ...receipt }) },
        };
      };
      return this.operations.perform(me, 'POST /v1/expenses', {}, run, { teaching: true });
    });
  }

  private async expenseForm(me: Managed, errors: Errors | null = null): Promise<Page> {
    const [[terms]] = await this.db.read<[Currency]>(
      { organizationId: me.organizationId },
      currencyOf(me.organizationId),
    );
    return page('own/expense', { ...typedIn(me, errors), ...terms!, CATEGORIES, MOST }, errors ? 422 : 200);
  }

  private async tripForm(me: Managed, errors: Errors | null = null): Promise<Page> {
    const { organizationId, by } = me;
    const [[terms], [last]] = await this.db.read<[Currency, { cents: number }]>(
      { organizationId },
      currencyOf(organizationId),
      lastRateOf(organizationId, by.userId),
    );
    const words = moneyWords(terms!.currency);
    const rate = last ? words.decimal(last.cents) : '';
    return page('own/trip', { ...typedIn(me, errors), ...words, rate }, errors ? 422 : 200);
  }
}

/** What was typed, if it is shown again. */
const typedIn = ({ form, timeZone }: Managed, errors: Errors | null) => ({
  errors: errors ?? {},
  typed: (name: string, otherwise = '') => (errors ? form.text(name) : otherwise),
  today: dayOf(new Date(), timeZone),
});

const listOf = ({ slug }: Managed): string => `/my/${slug}/claims`;

/** What the rules name otherwise than the forms. */
const FIELDS_OF: Record<string, string> = { amount_cents: 'amount', rate_cents: 'rate' };
const fieldOf: typeof namesake = (refusal) => FIELDS_OF[namesake(refusal)] ?? namesake(refusal);
