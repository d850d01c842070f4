import type { Sql } from 'sql-template-tag';
import type { Counter } from '@app/database';
import type { View } from '../views/view.js';
import type { Source } from './source.js';

/** A list of a resource. Without an `order` of its own it is newest first, (created_at, id), and has cursors. */
export interface List {
  view: View;
  source: Source;
  /** Conditions on the driving table; null for a filter that was not given. */
  filters?: (Sql | null)[];
  /** Columns of the driving table. */
  order?: Sql;
  /** The counters whose sum is `meta.total` in offset mode; without any, no total is told. */
  total?: Counter[];
  /** Counters that are taken off it. */
  totalWithout?: Counter[];
  /** Ids of the path that the list hangs on: a cursor is made for them too. */
  parameters?: Record<string, string>;
  /** Rows that must exist, or the list itself is not there: 404. */
  within?: Sql;
  /** Where one walk of an index does not find the page: the ids on it, as the column `id`. */
  ids?: (page: { limit: number; offset: number }) => Sql;
}
