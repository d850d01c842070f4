import { createHash } from 'node:crypto';
import { Controller, Get, Post, Query } from '@nestjs/common';
import { RATE_CELLS, RateTable } from '@app/billing';
import { Env } from '@app/config';
import { type Refusal, Refused } from '@app/rules';
import { PriceSettling } from '@app/scheduling';
import { answered, type Errors } from '../web/answered.js';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { fieldAt, NEW, readPrices, typedOf } from './price-form.js';
import { type PriceRow, PricesQueries } from './prices.queries.js';

const KINDS = {
  '1on1_online': 'One student, online',
  '1on1_inperson': 'One student, in person',
  group: 'Group',
  classroom: 'Class',
} satisfies Record<NonNullable<PriceRow['kind']>, string>;

/** Thrown to roll the change back until somebody has decided whether the lessons ahead keep their prices. */
class LessonsAhead extends Error {
  constructor(readonly lessons: number) {
    super('lessons ahead have other prices');
  }
}

/** The table of rates, as a table to fill in. */
@Controller('o/:slug/settings/prices')
@ForManagers()
export class PricesController {
  constructor(
    private readonly operations: FormOperations,
    private readonly queries: PricesQueries,
    private readonly rates: RateTable,
    private readonly settling: PriceSettling,
    private readonly env: Env,
  ) {}

  @Get()
  @InNavigation('Settings', 'Prices', 1)
  show(@Managing() organization: Managed, @Query('page') asked: unknown): Promise<Page> {
    return this.shown(organization, pageIn(asked));
  }

  @Post()
  async save(@Managing() organization: Managed): Promise<Page | SeeOther> {
    const { organizationId, slug, form } = organization;
    const [at, ahead] = [pageIn(form.text('page')), form.text('ahead')];
    const run = async () => {
      await this.rates.begin(organizationId, RATE_CELLS);
      const current = await this.queries.current(organizationId, at);
      if (versionOf(current) !== form.text('version')) throw Refused.invalid('Somebody else has changed these prices meanwhile. Nothing was saved: look at them, and change them again.'); // prettier-ignore
      const read = readPrices(form, current, this.env);
      if ('errors' in read)
        throw Refused.invalidAt(Object.entries(read.errors).map(([name, reason]) => ({ at: [name], reason })));
      const { created, changed, deleted } = await this.rates.edit(organizationId, read.edits).catch(inWords);
      if (ahead === '') await this.requireNoneAhead(organizationId);
      const sum = created.length + changed.length + deleted.length;
      return { changed: sum > 0, audit: { created: created.length, changed: changed.length, deleted: deleted.length } };
    };
    const work = this.operations.perform(organization, 'PUT /v1/rate-cells', {}, run).then(async (done) => {
      if (ahead === 'anew' && done) await this.settle(organization);
      return done;
    });
    const back = `/o/${slug}/settings/prices${at > 0 ? `?page=${at + 1}` : ''}`;
    const again = (errors: Errors) => this.shown(organization, at, errors);
    try {
      return await answered(work, { back, done: 'The prices were saved.' }, again, fieldAt);
    } catch (error) {
      if (!(error instanceof LessonsAhead)) throw error;
      return page('prices/ahead', { lessons: error.lessons, fields: form.all() });
    }
  }

  /** @throws LessonsAhead if lessons ahead have other prices than the table says */
  private async requireNoneAhead(organizationId: string): Promise<void> {
    const { changed } = await this.settling.settle(organizationId, ALL(), true).catch((error: unknown) => {
      // There are more of them than are settled at once: they keep their prices.
      if (error instanceof Refused) return { changed: [] };
      throw error;
    });
    if (changed.length > 0) throw new LessonsAhead(changed.length);
  }

  private settle(organization: Managed): Promise<unknown> {
    const run = async () => {
      const { changed } = await this.settling.settle(organization.organizationId, ALL(), false);
      return { audit: { session_ids: changed.map(({ sessionId }) => sessionId) } };
    };
    return this.operations.perform(organization, 'POST /v1/sessions/settle-prices', {}, run);
  }

  private async shown({ organizationId, form }: Managed, at: number, errors: Errors | null = null): Promise<Page> {
    const { prices, ...rest } = await this.queries.table(organizationId, at);
    const rows = prices.map((row) => ({ ...row, what: whatOf(row), typed: typedOf(row) }));
    const typed = (name: string, stored = '') => (errors ? form.text(name) : stored);
    const data = { ...rest, rows, NEW, KINDS, page: at, version: versionOf(prices), errors: errors ?? {}, typed };
    return page('prices/prices', data, errors ? 422 : 200);
  }
}

/** What the table's rule says of two lines alike, in the words of the page. */
function inWords(error: unknown): never {
  if (!(error instanceof Refused) || error.why.kind !== 'invalid') throw error;
  const inItsWords = (one: Refusal) =>
    one.at.at(-1) === 'band_id' ? { ...one, reason: 'Another line has a price for the same.' } : one;
  throw Refused.invalidAt(error.why.refusals.map(inItsWords));
}

const ALL = () => ({ from: new Date(), studentId: null, tutorId: null });

/** @returns the number of a page, from 0 */
const pageIn = (asked: unknown): number =>
  typeof asked === 'string' && /^[1-9]\d{0,3}$/.test(asked) ? Number(asked) - 1 : 0;

const versionOf = (rows: readonly PriceRow[]): string =>
  createHash('sha256').update(JSON.stringify(rows)).digest('base64url').slice(0, 22);

/** What a price is for, in words. */
function whatOf({ subject, kind, band, tier }: PriceRow): string {
  const said = [subject, kind && KINDS[kind], band, tier].filter(Boolean);
  return said.length === 0 ? 'Every lesson' : said.join(' · ');
}
