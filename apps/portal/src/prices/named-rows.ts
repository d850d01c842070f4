import { Controller, Get, Param, Post, type Type } from '@nestjs/common';
import type { RecordOperation } from '@app/audit';
import { RATE_BANDS, TUTOR_TIERS } from '@app/billing';
import { Env } from '@app/config';
import { FIELDS } from '@app/fields';
import { Rows, type RowTable, type Values } from '@app/rows';
import { Refused } from '@app/rules';
import { SUBJECTS } from '@app/teaching';
import { answered, type Errors, namesake } from '../web/answered.js';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { readField } from '../web/read-field.js';
import { PricesQueries } from './prices.queries.js';

/** A kind of rows that prices are told apart by, of which each has a name. */
export interface NamedKind {
  table: RowTable & { table: 'subjects' | 'rate_bands' | 'tutor_tiers' };
  /** The last part of the path of its pages. */
  at: string;
  one: string;
  many: string;
  says: string;
  /** Its path in the API. */
  record: 'subjects/:subject_id' | 'rate-bands/:rate_band_id' | 'tutor-tiers/:tutor_tier_id';
  /** What to do with one that is in use, instead of deleting it. */
  instead: string;
  read: (form: Form, env: Env) => Values;
}

const readSubject = (form: Form, env: Env): Values => ({
  name: readField(form, env, 'name', FIELDS.subjects.name),
  tax: ['taxable', 'free'].find((one) => one === form.text('tax')) ?? null,
  is_archived: form.text('is_archived') === 'yes',
});

/** @param form says the place in the list, unless it makes a new one */
const readPlaced = (form: Form, env: Env): Values => ({
  name: readField(form, env, 'name', FIELDS.rate_bands.name),
  ...(form.text('sort_order') !== '' && {
    sort_order: readField(form, env, 'sort_order', FIELDS.rate_bands.sort_order),
  }),
});

const KINDS: NamedKind[] = [
  {
    ...{ table: SUBJECTS as NamedKind['table'], at: 'subjects', one: 'subject', many: 'Subjects' },
    says: 'What you teach. Tutors, lessons and prices name one.',
    ...{ record: 'subjects/:subject_id', read: readSubject, instead: 'Archive it instead: what names it keeps it, and nothing new can.' },
  },
  {
    ...{ table: RATE_BANDS as NamedKind['table'], at: 'levels', one: 'student level', many: 'Student levels' },
    says: 'If lessons cost more for some students, such as those in their last years of school.',
    ...{ record: 'rate-bands/:rate_band_id', read: readPlaced, instead: 'Take it from the prices and students first.' },
  },
  {
    ...{ table: TUTOR_TIERS as NamedKind['table'], at: 'tiers', one: 'tutor tier', many: 'Tutor tiers' },
    says: 'If lessons cost or pay more with some tutors, such as those with experience.',
    ...{ record: 'tutor-tiers/:tutor_tier_id', read: readPlaced, instead: 'Take it from the prices and tutors first.' },
  },
]; // prettier-ignore

export const NAMED_ROWS_CONTROLLERS = KINDS.map((kind, at) => controllerOf(kind, at + 2));

/** The pages of a kind: all of them with a form for another one, and one with a form to change or delete it. @param tab its place among the tabs */
function controllerOf(kind: NamedKind, tab: number): Type {
  const list = `/settings/${kind.at}`;
  const id = kind.record.split(':')[1]!;

  @Controller(`o/:slug${list}`)
  @ForManagers()
  class NamedRowsController {
    constructor(
      private readonly operations: FormOperations,
      private readonly rows: Rows,
      private readonly queries: PricesQueries,
      private readonly env: Env,
    ) {}

    @Get()
    @InNavigation('Settings', kind.many, tab)
    list(@Managing() organization: Managed): Promise<Page> {
      return this.listed(organization);
    }

    @Post()
    add(@Managing() organization: Managed): Promise<Page | SeeOther> {
      const { organizationId, slug, form } = organization;
      const run = async () => {
        await this.rows.add(organizationId, kind.table, kind.read(form, this.env)).catch(inWords);
        return {};
      };
      const made = `POST /v1/${kind.record.split('/')[0]}` as 'POST /v1/subjects';
      return answered(
        this.operations.perform(organization, made, {}, run),
        { back: `/o/${slug}${list}`, done: `The ${kind.one} was added.` },
        (errors) => this.listed(organization, errors),
        namesake,
      );
    }

    @Get(`:${id}`)
    show(@Managing() organization: Managed, @Param(id) row: string): Promise<Page> {
      return this.shown(organization, pathId(row));
    }

    @Post(`:${id}`)
    change(@Managing() organization: Managed, @Param(id) row: string): Promise<Page | SeeOther> {
      const { organizationId, form } = organization;
      return this.settle(organization, 'PATCH', pathId(row), 'It was saved.', async (rowId) => ({
        changed: await this.rows.change(organizationId, kind.table, rowId, kind.read(form, this.env)),
      }));
    }

    @Post(`:${id}/delete`)
    remove(@Managing() organization: Managed, @Param(id) row: string): Promise<Page | SeeOther> {
      return this.settle(organization, 'DELETE', pathId(row), 'It was deleted.', async (rowId) => {
        await this.rows.remove(organization.organizationId, kind.table, rowId).catch(inWords);
        return {};
      });
    }

    /** What becomes of a row, and then the list. */
    private settle(
      organization: Managed,
      method: 'PATCH' | 'DELETE',
      rowId: string,
      done: string,
      run: (rowId: string) => Promise<{ changed?: boolean }>,
    ): Promise<Page | SeeOther> {
      const operation = `${method} /v1/${kind.record}` as RecordOperation<'subjects/:subject_id'> &
        `${string}:${string}`;
      const ids = { [id]: rowId } as { subject_id: string };
      return answered(
        this.operations.perform(organization, operation, ids, () => run(rowId)),
        { back: `/o/${organization.slug}${list}`, done },
        (errors) => this.shown(organization, rowId, errors),
        namesake,
      );
    }

    private async listed({ organizationId, form }: Managed, errors: Errors | null = null): Promise<Page> {
      const rows = await this.queries.named(organizationId, kind.table.table);
      const values = errors ? typedIn(form) : {};
      return page('prices/named', { kind, rows, values, errors: errors ?? {} }, errors ? 422 : 200);
    }

    private async shown({ organizationId, form }: Managed, row: string, errors: Errors | null = null): Promise<Page> {
      const [found] = await this.queries.named(organizationId, kind.table.table, row);
      if (!found) throw PageError.notFound();
      const values = errors && form.text('name') !== '' ? typedIn(form) : found;
      return page('prices/named-one', { kind, row: found, values, errors: errors ?? {} }, errors ? 422 : 200);
    }
  }
  return NamedRowsController;

  /** What stands in the way, as the page of the form says it. */
  function inWords(error: unknown): never {
    if (!(error instanceof Refused) || error.why.kind !== 'conflict') throw error;
    const used = error.why.code === 'still_referenced';
    throw Refused.invalid(used ? `This ${kind.one} is in use. ${kind.instead}` : error.message);
  }
}

const typedIn = (form: Form) => ({
  ...{ name: form.text('name'), tax: form.text('tax'), sort_order: form.text('sort_order') },
  is_archived: form.text('is_archived') === 'yes',
});
