import type { Sql } from 'sql-template-tag';
import type { Counter } from '@app/database';
import type { View } from '../views/view.js';
import type { Source } from './source.js';

/** A list of a resource. Unless it has its own `order`, it is newest first by (created_at, id) and supports cursors. */
export interface List {
  view: View;
  source: Source;
  /** Conditions on the driving table; null for a filter that was not given. */
  filters?: (Sql | null)[];
  /** Columns of the driving table. */
  order?: Sql;
  /** The counters whose sum is `meta.total` in offset mode; without them there is no total. */
  total?: Counter[];
  /** Counters that are subtracted from it. */
  totalWithout?: Counter[];
  /** Ids from the path; a cursor is only valid for the same ones. */
  parameters?: Record<string, string>;
  /** Rows that must exist; otherwise the list itself returns 404. */
  within?: Sql;
  /** Where one index scan does not yield the page: a query for its ids, as the column `id`. */
  ids?: (page: { limit: number; offset: number }) => Sql;
}
