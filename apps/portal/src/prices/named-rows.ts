import { Controller, Get, Param, Post, type Type } from '@nestjs/common';
import { RATE_BANDS, TUTOR_TIERS } from '@app/billing';
import type { RecordOperation } from '@app/audit';
import type { RowTable, Values } from '@app/rows';
import { Rows } from '@app/rows';
import { Refused } from '@app/rules';
import { SUBJECTS } from '@app/teaching';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
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
  read: (form: Form) => Values;
}

/** A place in the order of the list. */
function placed(form: Form): Values {
  const place = form.text('sort_order') || '0';
  if (!/^-?\d{1,6}$/.test(place)) throw Refused.invalid('Enter a whole number.', 'sort_order');
  return { sort_order: Number(place) };
}

function taxed(form: Form): Values {
  const tax = ['taxable', 'free'].find((one) => one === form.text('tax')) ?? null;
  return { tax, is_archived: form.text('is_archived') === 'yes' };
}

const KINDS: NamedKind[] = [
  {
    ...{ table: SUBJECTS as NamedKind['table'], at: 'subjects', one: 'subject', many: 'Subjects' },
    says: 'What you teach. Tutors, lessons and prices name one.',
    ...{ record: 'subjects/:subject_id', read: taxed, instead: 'Archive it instead: what names it keeps it, and nothing new can.' },
  },
  {
    ...{ table: RATE_BANDS as NamedKind['table'], at: 'levels', one: 'student level', many: 'Student levels' },
    says: 'If lessons cost more for some students, such as those in their last years of school.',
    ...{ record: 'rate-bands/:rate_band_id', read: placed, instead: 'Take it from the prices and students first.' },
  },
  {
    ...{ table: TUTOR_TIERS as NamedKind['table'], at: 'tiers', one: 'tutor tier', many: 'Tutor tiers' },
    says: 'If lessons cost or pay more with some tutors, such as those with experience.',
    ...{ record: 'tutor-tiers/:tutor_tier_id', read: placed, instead: 'Take it from the prices and tutors first.' },
  },
]; // prettier-ignore

export const NAMED_ROWS_CONTROLLERS = KINDS.map(controllerOf);

/** The pages of a kind: all of them with a form for another one, and one with a form to change or delete it. */
function controllerOf(kind: NamedKind): Type {
  const list = `/settings/${kind.at}`;
  const id = kind.record.split(':')[1]!;

  @Controller(`o/:slug${list}`)
  @ForManagers()
  class NamedRowsController {
    constructor(
      private readonly operations: FormOperations,
      private readonly rows: Rows,
      private readonly queries: PricesQueries,
    ) {}

    @Get()
    list(@Managing() organization: Managed): Promise<Page> {
      return this.listed(organization);
    }

    @Post()
    add(@Managing() organization: Managed): Promise<Page | SeeOther> {
      const { organizationId, slug, form } = organization;
      const run = async () => {
        await this.rows.add(organizationId, kind.table, valuesOf(form, kind));
        return {};
      };
      const work = () =>
        this.operations.perform(organization, `POST /v1/${kind.record.split('/')[0]}` as 'POST /v1/subjects', {}, run);
      return told(work, seeOther(`/o/${slug}${list}`, 'success', `The ${kind.one} was added.`), (errors) =>
        this.listed(organization, errors),
      );
    }

    @Get(`:${id}`)
    show(@Managing() organization: Managed, @Param(id) row: string): Promise<Page> {
      return this.shown(organization, pathId(row));
    }

    @Post(`:${id}`)
    change(@Managing() organization: Managed, @Param(id) row: string): Promise<Page | SeeOther> {
      const { organizationId, slug, form } = organization;
      const run = async () => ({
        changed: await this.rows.change(organizationId, kind.table, pathId(row), valuesOf(form, kind)),
      });
      const work = () => this.operations.perform(organization, operation('PATCH', kind), named(id, row), run);
      return told(work, seeOther(`/o/${slug}${list}`, 'success', 'It was saved.'), (errors) =>
        this.shown(organization, pathId(row), errors),
      );
    }

    @Post(`:${id}/delete`)
    remove(@Managing() organization: Managed, @Param(id) row: string): Promise<Page | SeeOther> {
      const { organizationId, slug } = organization;
      const run = async () => {
        await this.rows.remove(organizationId, kind.table, pathId(row));
        return {};
      };
      const work = () => this.operations.perform(organization, operation('DELETE', kind), named(id, row), run);
      return told(work, seeOther(`/o/${slug}${list}`, 'success', 'It was deleted.'), (errors) =>
        this.shown(organization, pathId(row), errors),
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

  /** @returns where it leads, or the page of the form with what is wrong */
  async function told(
    work: () => Promise<unknown>,
    done: SeeOther,
    again: (errors: Errors) => Promise<Page>,
  ): Promise<Page | SeeOther> {
    try {
      await work();
      return done;
    } catch (error) {
      if (!(error instanceof Refused) || error.why.kind === 'not_found') throw error;
      if (error.why.kind !== 'invalid') return again({ form: `This ${kind.one} is in use. ${kind.instead}` });
      return again(Object.fromEntries(error.why.refusals.map(({ at, reason }) => [at.join('.'), reason])));
    }
  }
}

type Errors = Record<string, string>;

const operation = (method: 'PATCH' | 'DELETE', { record }: NamedKind) => `${method} /v1/${record}` as RecordOperation<'subjects/:subject_id'> & `${string}:${string}`; // prettier-ignore

const named = (name: string, id: string) => ({ [name]: pathId(id) }) as { subject_id: string };

const valuesOf = (form: Form, kind: NamedKind): Values => ({ name: form.text('name'), ...kind.read(form) });

const typedIn = (form: Form) => ({
  ...{ name: form.text('name'), tax: form.text('tax'), sort_order: form.text('sort_order') },
  is_archived: form.text('is_archived') === 'yes',
});
