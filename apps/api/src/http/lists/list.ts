import type { Type } from '@nestjs/common';
import type { Sql } from 'sql-template-tag';
import type { Counter } from '@app/database';
import type { Caller } from '../auth/caller.js';
import type { View } from '../views/view.js';
import type { Filter } from './filters.js';
import type { ListQuery, OffsetQuery } from './list-query.dto.js';
import type { Source } from './source.js';

/** Values of the route's path parameters, by name. */
export type PathValues = Record<string, string>;

/**
 * A list of a resource, declared once: its route, what it reads, and how the reference describes it. `Lists` adds the
 * tenant's condition. Unless it has its own `order`, it is newest first by (created_at, id) and supports cursors.
 */
export interface List<Query extends OffsetQuery = ListQuery> {
  /** The operation's id. */
  id: string;
  /** As Express writes it. Its parameters are ids. */
  path: string;
  /** The class of the query parameters, if the list has its own. */
  query?: Type<Query>;
  summary: string;
  /** Order, visibility and anything else a caller must know, in Markdown. */
  description?: string;
  /** Cursors are bound to its name, so no two lists share one. */
  view: View;
  source: Source;
  /** Columns of the driving table. */
  order?: Sql;
  /** The counters whose sum is `meta.total` in offset mode; without them there is no total. */
  total?: Counter[];
  /** Whether pages are arrays without an envelope. */
  bare?: boolean;
  /** The parts that depend on the request. */
  select?(query: Query, caller: Caller, path: PathValues): Selection;
}

/** The part of a list that a request selects. */
export interface Selection {
  /** Conditions on the driving table; null for a filter that was not given. */
  filters?: (Filter | Sql | null)[];
  /** A view of the same name and schema. */
  view?: View;
  total?: Counter[];
  /** Counters to subtract from the total. */
  totalWithout?: Counter[];
  /** A row of the organization that must exist; otherwise the list itself returns 404. */
  within?: { source: Source; where: Sql };
  /** For pages that no single index scan yields: a query for the page's ids, in the column `id`. */
  ids?(page: { limit: number; offset: number }): Sql;
}

/** A list with what one request selects from it. */
export type Selected = Pick<List, 'view' | 'source' | 'order' | 'total'> & Selection;
