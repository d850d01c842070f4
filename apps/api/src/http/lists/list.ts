import type { Type } from '@nestjs/common';
import type { Sql } from 'sql-template-tag';
import type { Scope } from '@app/access';
import type { Counter } from '@app/database';
import type { Caller } from '../auth/caller.js';
import type { View } from '../views/view.js';
import { conditionsOf, paging, type Parameter, queryOf, type ValuesOf } from './parameters.js';
import { declare, type RecordSet, type Source } from './source.js';

/** Values of the route's path parameters, by name. */
export type PathValues = Record<string, string>;

/** What a valid query says about paging. */
export interface PageQuery {
  limit: number;
  offset: number;
  /** Only of lists in the default order. */
  cursor?: string;
}

/**
 * A list, declared once: route, source and description. `Lists` adds the tenant's condition. Without an `order` of its own it is newest first
 * and supports cursors, which are bound to its id.
 */
interface Declaration<Parameters extends readonly Parameter[]> extends RecordSet {
  /** The operation's id. */
  id: string;
  /** As Express writes it. Its parameters are ids. */
  path: string;
  summary: string;
  /** Order, visibility and anything else a caller must know, in Markdown. */
  description?: string;
  source: Source;
  /** All that its reader needs, if it is not `read`. */
  scopes?: [Scope, ...Scope[]];
  parameters?: Parameters;
  /** The size of a page: by default, and at most. */
  sizes?: { limit: number; most: number };
  /** Columns of the driving table. */
  order?: Sql;
  /** The counters whose sum is `meta.total` in offset mode; without them there is no total. */
  total?: Counter[];
  /** Pages are arrays without an envelope; or there are no pages, and all records are sent as `{data}`. */
  bare?: 'array' | 'data';
  /** What else depends on the request. */
  select?(query: ValuesOf<Parameters>, caller: Caller, path: PathValues): Selection;
}

export interface List extends Omit<Declaration<readonly Parameter[]>, 'select'> {
  /** Other than those of paging. */
  parameters: readonly Parameter[];
  /** The class of the query. */
  query: Type<PageQuery>;
  select?(query: object, caller: Caller, path: PathValues): Selection;
}

/** Declares a list. */
export function list<const Parameters extends readonly Parameter[] = []>(declaration: Declaration<Parameters>): List {
  const { parameters = [], order, bare }: Declaration<readonly Parameter[]> = declaration as never;
  const { sizes = { limit: 20, most: 100 } } = declaration;
  const pages = bare === 'data' ? [] : paging(sizes, order === undefined);
  const query = queryOf([...pages, ...parameters]);
  declare(declaration);
  return { ...declaration, parameters, query: query as unknown as Type<PageQuery> };
}

/** The part of a list that a request selects. */
export interface Selection {
  /** More conditions on the driving table. */
  filters?: Sql[];
  /** A view of the same name and schema. */
  view?: View;
  /** The same driving table with other joins. */
  source?: Source;
  total?: Counter[];
  /** The total is counted: no counters fit the filters. */
  counted?: boolean;
  /** Counters to subtract from the total. */
  totalWithout?: Counter[];
  /** A row of the organization that must exist; otherwise the list itself returns 404. */
  within?: { source: Source; where: Sql };
}

/** A list with what one request selects from it. */
export type Selected = Pick<List, 'view' | 'source' | 'order' | 'total'> &
  Selection & {
    filters: Sql[];
    /** Rows of a range of another column than that of the order. */
    ranged: boolean;
  };

/** What this request selects. */
export function selectedBy(list: List, query: object, caller: Caller, path: PathValues = {}): Selected {
  const selection = list.select?.(query, caller, path);
  const filters = [
    ...(list.where ? [list.where] : []),
    ...conditionsOf(list.parameters, query, list.source.alias, caller),
    ...(selection?.filters ?? []),
  ];
  return { ...list, ...selection, filters, ranged: isRanged(list, query) };
}

/** Whether a range is all that the query asks for, but for switches: the index of the range is read in the order of the list. */
function isRanged({ parameters, order }: List, query: object): boolean {
  const given = parameters.filter(({ name }) => (query as Record<string, unknown>)[name] !== undefined);
  const bounds = given.filter(
    ({ column, comparison = '' }) => /^(since|until)/.test(comparison) && column !== 'created_at',
  );
  const switches = given.filter(({ comparison = '' }) => /^(only|without)$/.test(comparison));
  return order === undefined && bounds.length > 0 && bounds.length + switches.length === given.length;
}
