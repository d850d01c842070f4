import type { Type } from '@nestjs/common';
import { raw, type Sql } from 'sql-template-tag';
import type { DateBound } from '@app/database';
import { Fault } from '../validation/fault.js';
import { Query } from '../validation/fields.js';
import { boolean, dateBound, integer, type Kind, oneOf, token, uuid } from '../validation/kinds.js';
import { type Interdependent, TOGETHER } from '../validation/read-object.js';
import { CURSOR_FORM } from './cursor.js';
import { COMPARISONS, type Comparison, isBefore } from './filters.js';

/** A query parameter: of a list, also the column that it is compared with, from which tests derive rows and results. */
export interface Parameter<Name extends string = string, Value = unknown> {
  name: Name;
  kind: Kind;
  description: string;
  required?: boolean;
  default?: Value;
  /** Of the list's driving table. */
  column?: string;
  comparison?: Comparison;
  /** The condition, if it is no plain comparison; null for none. */
  where?(value: NonNullable<Value>, alias: string): Sql | null;
  /** The parameter that this one's date must not be before. */
  from?: string;
}

/** The values of these parameters, by name. */
export type ValuesOf<Parameters extends readonly Parameter[]> = {
  [P in Parameters[number] as P['name']]: P extends Parameter<string, infer Value> ? Value : never;
};

const compared = <Name extends string, Value>(
  name: Name,
  kind: Kind,
  comparison: Comparison,
  description: string,
  column: string,
): Parameter<Name, Value | undefined> => ({ name, kind, description, column, comparison });

/** Rows with this id. */
export const byId = <Name extends string>(name: Name, description: string, column: string = name) =>
  compared<Name, string>(name, uuid, 'equals', description, column);

/** Rows with one of these values; usually those of the column's CHECK, from `VALUES`. */
export const byValue = <Name extends string, const Values extends readonly string[]>(
  name: Name,
  values: Values,
  description: string,
  column: string = name,
) => compared<Name, Values[number]>(name, oneOf(values), 'equals', description, column);

/** Rows for which this is true, or false. */
export const byFlag = <Name extends string>(name: Name, description: string, column: string = name) =>
  compared<Name, boolean>(name, boolean, 'equals', description, column);

/** `from` and `to`: rows with an instant between the two. A day as `to` counts in full. */
export const between = (column: string, descriptions: { from: string; to: string }) =>
  range(column, descriptions, ['since', 'until']);

/** `from` and `to`, for a column without a time. */
export const betweenDays = (column: string, descriptions: { from: string; to: string }) =>
  range(column, descriptions, ['sinceDay', 'untilDay']);

const range = (column: string, descriptions: { from: string; to: string }, [since, until]: [Comparison, Comparison]) =>
  [
    compared<'from', DateBound>('from', dateBound, since, descriptions.from, column),
    { ...compared<'to', DateBound>('to', dateBound, until, descriptions.to, column), from: 'from' },
  ] as const;

/**
 * A switch that is off unless it is sent. Names the flag that rows must have while it is on (`only`), or that they must
 * not have while it is off (`without`); with neither, the list's `select` says what it does.
 */
export const toggle = <Name extends string>(
  name: Name,
  description: string,
  { only, without }: { only?: string; without?: string } = {},
): Parameter<Name, boolean> => ({
  name,
  kind: boolean,
  description,
  default: false,
  column: only ?? without,
  comparison: only ? 'only' : without ? 'without' : undefined,
});

/** Any other parameter. */
export const parameter = <Name extends string, Value>(
  name: Name,
  kind: Kind<Value>,
  description: string,
  more: Pick<Parameter<Name, Value>, 'where' | 'column' | 'comparison'> = {},
): Parameter<Name, Value | undefined> => ({ name, kind, description, ...more });

/** The same parameter, without which the request is refused. */
export const required = <Name extends string, Value>(
  optional: Parameter<Name, Value | undefined>,
): Parameter<Name, Value> => ({ ...optional, required: true });

/** The same parameter, with this value unless it is sent. */
export const orDefault = <Name extends string, Value>(
  optional: Parameter<Name, Value | undefined>,
  value: Value,
): Parameter<Name, Value> => ({ ...optional, default: value });

/** The maximum offset. PostgreSQL accepts more, but no list is that long, and the number stays exact. */
const MOST_OFFSET = 2_147_483_647;

/** The parameters of paging; cursors are for lists whose order is (created_at, id). */
export function paging(sizes: { limit: number; most: number }, cursors: boolean): Parameter[] {
  return [
    { name: 'limit', kind: integer(1, sizes.most), description: 'Page size.', default: sizes.limit },
    { name: 'offset', kind: integer(0, MOST_OFFSET), description: 'Number of records to skip.', default: 0 },
    ...(cursors ? [CURSOR] : []),
  ];
}

const CURSOR = parameter(
  'cursor',
  token(CURSOR_FORM, 'Must be "start" or the meta.next_cursor of the previous page.', 'start'),
  'Cursor mode: `start` begins with the newest record; pass `meta.next_cursor` to continue. Records added ' +
    'meanwhile cause no duplicates and no gaps. `offset` is ignored then, but still validated.',
);

/** The class of a query with these parameters, for `@ValidQuery`. Their order is that of its properties. */
export function queryOf<const Parameters extends readonly Parameter[]>(
  parameters: Parameters,
): Type<ValuesOf<Parameters>> {
  class DeclaredQuery implements Interdependent {
    constructor() {
      for (const { name, default: fallback } of parameters) this[name as never] = fallback as never;
    }

    [TOGETHER](): Fault[] {
      const bounds = this as unknown as Record<string, DateBound | Fault | undefined>;
      return parameters.flatMap(({ name, from }) => {
        const [start, end] = [from && bounds[from], bounds[name]];
        const given = start && end && !(start instanceof Fault) && !(end instanceof Fault);
        return given && isBefore(end, start) ? [new Fault('value_error', `Must not be before "${from}".`, [name])] : [];
      });
    }
  }
  for (const { name, kind, ...documented } of parameters) Query(kind, documented)(DeclaredQuery.prototype, name);
  return DeclaredQuery as Type<never>;
}

/** The conditions of the parameters that a query gives. */
export function conditionsOf(parameters: readonly Parameter[], query: object, alias: string): Sql[] {
  return parameters.flatMap((parameter) => {
    const { name, column, comparison } = parameter;
    const value = (query as Record<string, unknown>)[name];
    if (value === undefined) return [];
    if (parameter.where) return parameter.where(value as never, alias) ?? [];
    return comparison ? (COMPARISONS[comparison](raw(`${alias}.${column}`), value as never) ?? []) : [];
  });
}
