import { Controller, Get, Post, Query } from '@nestjs/common';
import { Invoices } from '@app/billing';
import { Database, pageOf } from '@app/database';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations, SENT_BEFORE } from '../web/operations.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { type DraftRow, draftsPage, issued, type IssuedRow, readyDrafts } from './drafts.queries.js';
import { type TermsRow, termsOf } from './invoices.queries.js';
import { readSums } from './money-forms.js';
import { moneyWords } from './money-words.js';
import { outcomeOf } from './outcomes.js';

/** Rows of a page, with so many lines of each. */
const ROWS = 25;
const LINES = 4;
/** How many are issued at a time. */
const MOST = 100;

/** Drafts, and issuing all of them. */
@Controller('o/:slug/money/drafts')
@ForManagers()
export class IssuingController {
  constructor(
    private readonly db: Database,
    private readonly operations: FormOperations,
    private readonly invoices: Invoices,
  ) {}

  @Get()
  @InNavigation('Money', 'Drafts', 1)
  async list(@Managing() organization: Managed, @Query() asked: Record<string, unknown>): Promise<Page> {
    const [all, after] = [asked.all === 'yes', readPosition(asked.after)];
    const drafts = (at: string) => draftsPage(at, all, after, ROWS + 1, LINES);
    const { rows, words } = await this.read(organization, drafts);
    const found = pageOf(rows, ROWS, 'created_at');
    const query = { all: all ? 'yes' : null };
    return page('money/drafts', {
      ...{ drafts: found.rows, all, isFirst: after === null, first: queryOf(query), ...words },
      next: found.next && queryOf({ ...query, after: positionText(found.next) }),
    });
  }

  /** Names their count and sum, which the form sends along: what is issued is what was shown. */
  @Get('issue')
  async confirm(@Managing() organization: Managed): Promise<Page> {
    const { rows, words } = await this.read(organization, (at) => readyDrafts(at, MOST + 1));
    return page('money/issue', { drafts: rows.slice(0, MOST), more: rows.length > MOST, most: MOST, ...words });
  }

  /** Each in a transaction of its own, so that one that is refused keeps none of the others back. */
  @Post('issue')
  async issue(@Managing() organization: Managed): Promise<Page | SeeOther> {
    const drafts = readSums(organization.form, 'drafts', MOST);
    const send = organization.form.text('send') === 'yes';
    const told = new Map<string, string | boolean>();
    for (const { id, cents } of drafts) told.set(id, await this.issueOne(organization, id, cents, send));
    const back = `/o/${organization.slug}/money/drafts`;
    if (drafts.every(({ id }) => told.get(id) === false)) return seeOther(back, 'notice', SENT_BEFORE);
    const { organizationId } = organization;
    const ids = drafts.map(({ id }) => id);
    const [rows, [terms]] = await this.db.read<[IssuedRow, TermsRow]>(
      { organizationId },
      issued(organizationId, ids),
      termsOf(organizationId),
    );
    const results = rows.map((row) => ({ ...row, why: told.get(row.id) }));
    return page('money/issued', { results, ...moneyWords(terms!.currency) });
  }

  private issueOne(organization: Managed, id: string, cents: bigint, send: boolean): Promise<string | boolean> {
    const { organizationId } = organization;
    const work = () => this.invoices.finalize(organizationId, id, null, send, cents);
    const performed = this.operations.perform(
      organization,
      'POST /v1/invoices/:invoice_id/finalize',
      { invoice_id: id },
      work,
    );
    return outcomeOf(performed, async () => {
      const [found] = await this.db.read<[IssuedRow]>({ organizationId }, issued(organizationId, [id]));
      return found.length > 0;
    });
  }

  private async read({ organizationId }: Managed, query: (organizationId: string) => ReturnType<typeof readyDrafts>) {
    const [rows, [terms]] = await this.db.read<[DraftRow, TermsRow]>(
      { organizationId },
      query(organizationId),
      termsOf(organizationId),
    );
    return { rows, words: moneyWords(terms!.currency) };
  }
}
