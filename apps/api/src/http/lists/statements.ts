import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { behind, type Counter, newestFirst, type Position } from '@app/database';
import type { Caller } from '../auth/caller.js';
import type { View } from '../views/view.js';
import type { PageQuery, Selected, Selection } from './list.js';
import type { Source } from './source.js';

/** From this offset on, ids are found by an index-only scan first: 50 instead of 2,000 ms at 100,000. The second look-up costs about 50 rows. */
const DEEP = 100;

/** Pages of at most this many bytes (as stored) are rendered at once, larger ones in parts of this size. A typical page has 10 to 50 kB. */
export const PART_BYTES = 262_144;

/** The row that a statement of {@link offsetPage} or {@link cursorPage} yields. */
export interface PageRow {
  count: number;
  /** The records, separated by commas; null if there are none or they are too large to be rendered at once. */
  data: string | null;
  /** If too large: the page's ids and the sizes of its records, in order; else null. */
  ids?: string[] | null;
  sizes?: number[] | null;
  /** Of {@link countedPage}. */
  total?: number;
  /** Of lists that are replaced as a whole. */
  version?: string;
}

/** The same in cursor mode: whether there is a next page, and where this one ends. */
export interface CursorRow extends PageRow {
  more: boolean;
  created_at: Date | null;
  id: string | null;
}

export function offsetPage(caller: Caller, list: Selected, page: PageQuery): Sql {
  const { view } = list;
  return sql`WITH v AS MATERIALIZED (${rowsAt(caller, list, page)})
    SELECT p.count, ${rendered(view, sql`(SELECT ${view.fields} FROM v) v`)} FROM (SELECT count(*)::int AS count${measured(view, sql`v`)}) p`;
}

/** The same with the number of all rows in the column `total`, from one look at each that might be meant. */
export function countedPage(caller: Caller, list: Selected, { limit, offset }: PageQuery): Sql {
  const { view, source } = list;
  const matching = sql`SELECT ${orderedColumns(list)} FROM ${source.table} WHERE ${conditions(caller, list)}`;
  const ids = sql`SELECT ${raw(source.id)} AS id FROM matching ${raw(source.alias)} ORDER BY ${orderOf(list)} LIMIT ${limit} OFFSET ${offset}`;
  return sql`WITH matching AS MATERIALIZED (${matching}), v AS MATERIALIZED (${rowsOf(caller, list, ids, view.columns)})
    SELECT p.count, (SELECT count(*)::int FROM matching) AS total, ${rendered(view, sql`(SELECT ${view.fields} FROM v) v`)}
    FROM (SELECT count(*)::int AS count${measured(view, sql`v`)}) p`;
}

/** Reads one row more than the page shows, to know whether there is a next page. */
export function cursorPage(caller: Caller, list: Selected, limit: number, after: Position | null): Sql {
  const { view, source } = list;
  const createdAt = `${source.alias}.created_at`;
  const columns = sql`${view.columns}, ${raw(createdAt)} AS listed_at`;
  const page = {
    limit: limit + 1,
    offset: 0,
    further: list.ranged && after ? inRangeBehind(after, createdAt, source.id) : behind(after, createdAt, source.id),
  };
  return sql`WITH found AS MATERIALIZED (${rowsAt(caller, list, page, columns)})
    SELECT p.count, p.more, last.listed_at AS created_at, last.id,
      ${rendered(view, sql`(SELECT ${view.fields} FROM found LIMIT ${limit}) v`)}
    FROM (SELECT least(count(*), ${limit})::int AS count, count(*) > ${limit} AS more${measured(view, sql`found`)}) p
    LEFT JOIN (SELECT id, listed_at FROM found LIMIT 1 OFFSET ${limit - 1}) last ON p.more`;
}

/** As {@link behind}, for an index of a range, which does not know how to compare pairs; another index would be read to the end of the list. */
const inRangeBehind = ({ at, id }: Position, createdAt: string, rowId: string): Sql =>
  sql` AND ${raw(createdAt)} <= ${at.toISOString()}::timestamptz
    AND NOT (${raw(createdAt)} = ${at.toISOString()}::timestamptz AND ${raw(rowId)} >= ${id}::uuid)`;

/** The version of all rows of the organization, whatever of them a page shows, in the column `version`. */
export function versionOf(caller: Caller, { source }: Pick<Selected, 'source'>): Sql {
  const { table, alias, id } = source;
  return sql`SELECT '"' || coalesce(md5(string_agg(${raw(alias)}::text, ',' ORDER BY ${raw(id)})), 'none') || '"' AS version
    FROM ${table} WHERE ${visible(caller, source, [])}`;
}

/** The page with that version, which is of the same moment because it is the same statement. */
export const versionedPage = (caller: Caller, list: Selected, page: Sql): Sql =>
  sql`SELECT page.*, (${versionOf(caller, list)}) AS version FROM (${page}) page`;

/** Records by id, in this order. Leaves out deleted ones. */
export function recordsById(caller: Caller, list: Selected, ids: string[]): Sql {
  const { view, source } = list;
  return sql`SELECT count(*)::int AS count, string_agg(row_to_json(v)::text, ',') AS data
    FROM (SELECT ${view.fields} FROM (SELECT ${view.columns} FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS wanted (id, place)
      JOIN ${source.table} ON ${raw(source.id)} = wanted.id ${source.joins}
      WHERE ${conditions(caller, list)} ORDER BY wanted.place) row) v`;
}

/** Returns a row if the list's parent record exists. */
export function existenceOf(caller: Caller, { source, where }: NonNullable<Selection['within']>): Sql {
  return sql`SELECT FROM ${source.all} WHERE ${visible(caller, source, [where])}`;
}

/** PostgreSQL maintains the counters, so this sums a few rows however long the list is. */
export function countOf({ organizationId }: Caller, counters: Counter[], without: Counter[] = []): Sql {
  return sql`SELECT coalesce(sum(CASE WHEN list = ANY (${without}) THEN -delta ELSE delta END), 0)::int AS total
    FROM list_counts WHERE organization_id = ${organizationId} AND list = ANY (${[...counters, ...without]})`;
}

/** Where a page is; `further` are conditions that continue those of the list. */
type Extent = Pick<PageQuery, 'limit' | 'offset'> & { further?: Sql };

/** The columns of the page's rows, in order. */
function rowsAt(caller: Caller, list: Selected, extent: Extent, columns = list.view.columns): Sql {
  const { source } = list;
  const { limit, offset, further = empty } = extent;
  const order = orderOf(list);
  const kinds = source.kindsFor(caller);
  if (kinds.length === 1 && offset < DEEP) {
    return sql`SELECT ${columns} FROM ${source.all} WHERE ${conditions(caller, list)}${further}
      ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  }
  return rowsOf(caller, list, idsAt(list, kinds, extent), columns);
}

/** Columns of the rows with these ids, in the list's order. */
const rowsOf = (caller: Caller, list: Selected, ids: Sql, columns: Sql): Sql => sql`SELECT ${columns} FROM (${ids}) page
  JOIN ${list.source.table} ON ${list.source.sightOf(caller)} AND ${raw(list.source.id)} = page.id ${list.source.joins} ORDER BY ${orderOf(list)}`;

/** What a list is ordered by, and the ids. */
const orderedColumns = (list: Selected): Sql =>
  raw([...new Set([list.source.id, ...orderOf(list).sql.match(/\w+\.\w+/g)!])].join(', '));

/** The ids of the page's rows: of each kind that the caller sees, one walk of an index, only as far as the page reaches. */
function idsAt(list: Selected, kinds: Sql[], { limit, offset, further = empty }: Extent): Sql {
  const { source, filters } = list;
  const order = orderOf(list);
  const id = raw(`${source.id} AS id`);
  const end = sql`ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  const ofKind = (kind: Sql) => sql`FROM ${source.table} WHERE ${all(kind, filters)}${further}`;
  if (kinds.length === 1) return sql`SELECT ${id} ${ofKind(kinds[0]!)} ${end}`;
  const columns = orderedColumns(list);
  // For PostgreSQL, rows of nobody are in the order of the index only by the whole of it.
  const whole = sql`${raw(source.tenant)} DESC, ${order}`;
  const walks = kinds.map((kind) => sql`(SELECT ${columns} ${ofKind(kind)} ORDER BY ${whole} LIMIT ${limit + offset})`);
  return sql`SELECT ${id} FROM (${join(walks, ' UNION ALL ')}) ${raw(source.alias)} ${end}`;
}

/** The sizes of the rows and their sum, if the view has one. OFFSET keeps PostgreSQL from decompressing values twice. */
function measured({ size }: View, rows: Sql): Sql {
  if (!size) return sql` FROM ${rows}`;
  return sql`, coalesce(sum(size), 0) AS bytes, array_agg(size) AS sizes FROM (SELECT ${size} AS size FROM ${rows} OFFSET 0) s`;
}

/** The columns `data`, `ids` and `sizes` of {@link PageRow}; `p` has the page's size, `rows` yields it as `v`. */
function rendered({ size }: View, rows: Sql): Sql {
  const data = sql`(SELECT string_agg(row_to_json(v)::text, ',') FROM ${rows})`;
  if (!size) return sql`${data} AS data`;
  return sql`CASE WHEN p.bytes <= ${PART_BYTES} THEN ${data} END AS data,
      CASE WHEN p.bytes > ${PART_BYTES} THEN ARRAY(SELECT v.id FROM ${rows}) END AS ids,
      CASE WHEN p.bytes > ${PART_BYTES} THEN p.sizes END AS sizes`;
}

function conditions(caller: Caller, { source, filters }: Selected): Sql {
  return visible(caller, source, filters);
}

/** Rows that the caller may see. Each condition is in parentheses: an OR in it must not reach past the tenant. */
export function visible(caller: Caller, source: Source, where: Sql[]): Sql {
  return all(source.sightOf(caller), where);
}

const all = (kind: Sql, where: Sql[]) => join([kind, ...where.map((condition) => sql`(${condition})`)], ' AND ');

function orderOf({ source, order, ranged }: Selected): Sql {
  const createdAt = `${source.alias}.created_at`;
  return order ?? raw(`${ranged ? newestFirst(createdAt) : `${createdAt} DESC`}, ${source.id} DESC`);
}
