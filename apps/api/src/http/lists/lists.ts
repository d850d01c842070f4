import { Injectable } from '@nestjs/common';
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { type Counter, Database } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/api-error.js';
import { JsonText } from '../views/json-text.js';
import type { View } from '../views/view.js';
import { CURSOR_START, Cursors, type Position } from './cursor.js';
import { ListQuery, type OffsetQuery } from './list-query.dto.js';
import { Page } from './page.js';

/** The columns of an order (created_at, id), for keyset pages. */
export interface Keyset {
  createdAt: string;
  id: string;
}

/** A list of a resource. Every `where` begins with the caller's organization. */
export interface List {
  view: View;
  from: Sql;
  where: [organization: Sql, ...filters: (Sql | null)[]];
  /** Newest first by these columns, and cursors too; or an order of its own, and offsets only. */
  order: Keyset | Sql;
  /** The counters whose sum is `meta.total` in offset mode; without any, no total is told. */
  total?: Counter[];
  /** Ids of the path that the list hangs on: a cursor is made for them too. */
  parameters?: Record<string, string>;
  /** Rows that must exist, or the list itself is not there: 404. */
  within?: Sql;
}

interface PageRow {
  data: string;
  count: number;
  more: boolean;
  created_at: Date | null;
  id: string | null;
}

/** Reads pages and records for every resource: one way to page, one way to answer 404. */
@Injectable()
export class Lists {
  constructor(
    private readonly db: Database,
    private readonly cursors: Cursors,
  ) {}

  /** @throws ApiError 404 when what the list hangs on is not there; ValidationFailed for a cursor of something else */
  async page(caller: Caller, list: List, query: OffsetQuery): Promise<Page> {
    const cursor = query instanceof ListQuery ? query.cursor : undefined;
    const use = () => ({
      organizationId: caller.organizationId,
      list: list.view.name,
      filters: { ...list.parameters, ...filtersOf(query) },
    });
    const after = cursor && cursor !== CURSOR_START ? this.cursors.decode(cursor, use()) : null;
    const counters = cursor === undefined ? list.total : undefined;
    const statements = [cursor === undefined ? offsetPage(list, query) : cursorPage(list, query, after)];
    if (counters) statements.push(countOf(caller, counters));
    if (list.within) statements.push(list.within);
    const results = await this.db.read<[PageRow, ...{ total: number }[]]>(caller, ...statements);
    const [[page]] = results;
    if (list.within && results.at(-1)!.length === 0) throw ApiError.notFound();
    const meta = { limit: query.limit, offset: query.offset, count: page!.count };
    if (cursor === undefined) return new Page(page!.data, counters ? { ...meta, total: results[1]![0]!.total } : meta);
    const last: Position | null = page!.more ? { createdAt: page!.created_at!, id: page!.id! } : null;
    return new Page(page!.data, {
      limit: query.limit,
      count: page!.count,
      next_cursor: last && this.cursors.encode(last, use()),
    });
  }

  /** A bare array, for the one list without an envelope. @param statement yields the column `json`, in order */
  async array(caller: Caller, statement: Sql): Promise<JsonText> {
    const [[row]] = await this.db.read<[{ data: string }]>(
      caller,
      sql`SELECT coalesce('[' || string_agg(r.json, ',') || ']', '[]') AS data FROM (${statement}) r`,
    );
    return new JsonText(row!.data);
  }

  /** One record as JSON. @throws ApiError 404 */
  async record(caller: Caller, view: View, from: Sql, where: [organization: Sql, ...rest: Sql[]]): Promise<JsonText> {
    const [[row]] = await this.db.read<[{ data: string }]>(caller, recordOf(view, from, where));
    if (!row) throw ApiError.notFound();
    return new JsonText(row.data);
  }

  /** The same inside the ambient transaction: the record as the write leaves it. @throws ApiError 404 */
  async written(_caller: Caller, view: View, from: Sql, where: [organization: Sql, ...rest: Sql[]]): Promise<JsonText> {
    const [row] = await this.db.query<{ data: string }>(recordOf(view, from, where));
    if (!row) throw ApiError.notFound();
    return new JsonText(row.data);
  }
}

function recordOf(view: View, from: Sql, where: Sql[]): Sql {
  return sql`SELECT ${view.json} AS data FROM ${from} WHERE ${join(where, ' AND ')}`;
}

function filtersOf(query: OffsetQuery): Record<string, unknown> {
  const { limit: _limit, offset: _offset, cursor: _cursor, ...rest } = query as ListQuery;
  return rest;
}

function isKeyset(order: Keyset | Sql): order is Keyset {
  return 'createdAt' in order;
}

function conditions(list: List): Sql {
  return join(
    list.where.filter((condition) => condition !== null),
    ' AND ',
  );
}

function orderBy({ order }: List): Sql {
  return isKeyset(order) ? raw(`${order.createdAt} DESC, ${order.id} DESC`) : order;
}

function offsetPage(list: List, { limit, offset }: OffsetQuery): Sql {
  return sql`SELECT coalesce('[' || string_agg(r.json, ',') || ']', '[]') AS data, count(*)::int AS count
    FROM (SELECT ${list.view.json} AS json FROM ${list.from} WHERE ${conditions(list)}
      ORDER BY ${orderBy(list)} LIMIT ${limit} OFFSET ${offset}) r`;
}

/** One row more than the page shows is read: it tells whether there is a next one. */
function cursorPage(list: List, { limit }: OffsetQuery, after: Position | null): Sql {
  if (!isKeyset(list.order)) throw new Error('This list has no cursor');
  const createdAt = raw(list.order.createdAt);
  const id = raw(list.order.id);
  const beyond = after
    ? sql` AND (${createdAt}, ${id}) < (${after.createdAt.toISOString()}::timestamptz, ${after.id}::uuid)`
    : empty;
  return sql`SELECT coalesce('[' || string_agg(r.json, ',') FILTER (WHERE r.n <= ${limit}) || ']', '[]') AS data,
      least(count(*), ${limit})::int AS count, count(*) > ${limit} AS more,
      max(r.created_at) FILTER (WHERE r.n = ${limit}) AS created_at,
      (max(r.id::text) FILTER (WHERE r.n = ${limit})) AS id
    FROM (SELECT row_number() OVER () AS n, p.* FROM (
      SELECT ${list.view.json} AS json, ${createdAt} AS created_at, ${id} AS id
      FROM ${list.from} WHERE ${conditions(list)}${beyond}
      ORDER BY ${orderBy(list)} LIMIT ${limit + 1}) p) r`;
}

/** The database keeps count: the sum of a few rows, however long the list is. */
function countOf({ organizationId }: Caller, counters: Counter[]): Sql {
  return sql`SELECT coalesce(sum(delta), 0)::int AS total FROM list_counts
    WHERE organization_id = ${organizationId} AND list = ANY (${counters})`;
}
