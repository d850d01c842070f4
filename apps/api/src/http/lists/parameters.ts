import type { Type } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { type CodedTable, type DateBound, idOf } from '@app/database';
import { boolean, dateBound, Fault, idOrCode, integer, type Kind, oneOf, token, uuid } from '@app/fields';
import { daysBetween } from '@app/scheduling';
import type { Caller } from '../auth/caller.js';
import { Query } from '../validation/fields.js';
import { type Interdependent, TOGETHER } from '../validation/read-object.js';
import { CURSOR_FORM } from './cursor.js';
import { COMPARISONS, type Comparison, dayIn, isBefore } from './filters.js';

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
  where?(value: NonNullable<Value>, alias: string, caller: Caller): Sql | null;
  /** The parameter that this one's date must not be before. */
  from?: string;
  /** How many days after that one's it may be. */
  mostDays?: number;
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

/** Rows that refer to the table's row with this id or code; none if there is no such row. */
export const byIdOrCode = <Name extends string>(
  name: Name,
  table: CodedTable,
  description: string,
  column: string = name,
): Parameter<Name, string | undefined> => ({
  name,
  kind: idOrCode,
  description,
  column,
  where: (named, alias, { organizationId }) =>
    sql`${raw(`${alias}.${column}`)} = ${idOf(table, organizationId, named)}`,
});

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

/** `from` and `to`: rows with an instant between the two. A day is one of the organization's zone; as `to` it counts in full. */
export const between = (column: string, descriptions: { from: string; to: string }) =>
  range(column, descriptions, ['since', 'until']);

/** `from` and `to`, for a column without a time. */
export const betweenDays = (column: string, descriptions: { from: string; to: string }) =>
  range(column, descriptions, ['sinceDay', 'untilDay']);

const ITS_DAY = " A date is a day in the organization's time zone.";

const range = (column: string, descriptions: { from: string; to: string }, [since, until]: [Comparison, Comparison]) =>
  [
    compared<'from', DateBound>('from', dateBound, since, descriptions.from + ITS_DAY, column),
    { ...compared<'to', DateBound>('to', dateBound, until, descriptions.to + ITS_DAY, column), from: 'from' },
  ] as const;

/** A switch that is off unless sent: the flag that rows must have while it is on (`only`), or must not have while it is off (`without`). */
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

/** `from` and `to`, both required: days of the organization's zone, the last at most so many days after the first. */
export const days = (mostDays: number, descriptions: { from: string; to: string }) =>
  [
    required(parameter('from', dateBound, descriptions.from + ITS_DAY)),
    { ...required(parameter('to', dateBound, descriptions.to + ITS_DAY)), from: 'from', mostDays },
  ] as const;

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

/** An offset has no end: what no list reaches counts as 2^53 - 1, which is still an exact number, and PostgreSQL takes it. */
const OFFSET: Kind<number> = {
  ...integer(0, Infinity),
  schema: { type: 'integer', minimum: 0 },
  parseText: (raw, env) => {
    const offset = integer(0, Infinity).parseText!(raw, env);
    return typeof offset === 'number' ? Math.min(offset, Number.MAX_SAFE_INTEGER) : offset;
  },
};

/** The parameters of paging; cursors are for lists whose order is (created_at, id). */
export function paging(sizes: { limit: number; most: number }, cursors: boolean): Parameter[] {
  return [
    { name: 'limit', kind: integer(1, sizes.most), description: 'Page size.', default: sizes.limit },
    {
      name: 'offset',
      kind: OFFSET,
      description: 'Number of records to skip; beyond the last, the page is empty.',
      default: 0,
    },
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

    [TOGETHER](zone: string): Fault[] {
      const bounds = this as unknown as Record<string, DateBound | Fault | undefined>;
      return parameters.flatMap(({ name, from, mostDays = Infinity }) => {
        const [start, end] = [from && bounds[from], bounds[name]];
        if (!start || !end || start instanceof Fault || end instanceof Fault) return [];
        if (isBefore(end, start, zone)) return [new Fault('value_error', `Must not be before "${from}".`, [name])];
        return daysBetween(dayIn(start, zone), dayIn(end, zone)) > mostDays
          ? [new Fault('value_error', `Must be at most ${mostDays} days after "${from}".`, [name])]
          : [];
      });
    }
  }
  for (const { name, kind, ...documented } of parameters) Query(kind, documented)(DeclaredQuery.prototype, name);
  return DeclaredQuery as Type<never>;
}

/** The conditions of the parameters that a query gives. Days are those of the caller's organization. */
export function conditionsOf(parameters: readonly Parameter[], query: object, alias: string, caller: Caller): Sql[] {
  return parameters.flatMap((parameter) => {
    const { name, column, comparison } = parameter;
    const value = (query as Record<string, unknown>)[name];
    if (value === undefined) return [];
    if (parameter.where) return parameter.where(value as never, alias, caller) ?? [];
    if (!comparison) return [];
    const compare = COMPARISONS[comparison] as (column: Sql, value: unknown, caller: Caller) => Sql | null;
    return compare(raw(`${alias}.${column}`), value, caller) ?? [];
  });
}
