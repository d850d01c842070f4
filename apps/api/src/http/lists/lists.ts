import { Injectable } from '@nestjs/common';
import type { Sql } from 'sql-template-tag';
import { Database, SQLSTATE, sqlStateOf } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/api-error.js';
import { Fairness } from '../request/fairness.js';
import { CURSOR_START, Cursors, type Position } from './cursor.js';
import { type List, type PageQuery, type PathValues, type Selected, selectedBy } from './list.js';
import { LargeAnswers } from './large-answers.js';
import { Page, type Part } from './page.js';
import {
  countOf,
  cursorPage,
  type CursorRow,
  existenceOf,
  offsetPage,
  type PageRow,
  PART_BYTES,
  recordsById,
} from './statements.js';

/** Pages beyond this offset take a core for tens of milliseconds, so they are read one at a time. */
const DEEP = 10_000;

/** The most records of a list without pages. */
const UNPAGED = 1_000;

/** Reads pages for every resource. */
@Injectable()
export class Lists {
  constructor(
    private readonly db: Database,
    private readonly cursors: Cursors,
    private readonly fairness: Fairness,
    private readonly large: LargeAnswers,
  ) {}

  /**
   * One page of a list.
   *
   * @param path the ids in the route's path; a cursor is bound to them too
   * @throws ApiError 404 when the list's parent record does not exist; ValidationFailed for a cursor of another list
   */
  async page(caller: Caller, list: List, given: PageQuery, path: PathValues = {}): Promise<Page> {
    const query = list.bare === 'data' ? { ...given, limit: UNPAGED, offset: 0 } : given;
    const selected = selectedBy(list, query, caller, path);
    const { name } = list.view;
    const { cursor } = query;
    const use = () => ({
      organizationId: caller.organizationId,
      list: name,
      filters: { ...path, ...filtersOf(query) },
    });
    const after = cursor && cursor !== CURSOR_START ? this.cursors.decode(cursor, use()) : null;
    const counters = cursor === undefined ? selected.total : undefined;
    const statements = [
      cursor === undefined ? offsetPage(caller, selected, query) : cursorPage(caller, selected, query.limit, after),
    ];
    if (counters) statements.push(countOf(caller, counters, selected.totalWithout));
    if (selected.within) statements.push(existenceOf(caller, selected.within));
    const results = await this.read<[CursorRow, ...{ total: number }[]]>(caller, query, statements);
    const [[page]] = results;
    if (selected.within && results.at(-1)!.length === 0) throw ApiError.notFound();
    const records = this.recordsOf(caller, selected, page!);
    if (list.bare) return new Page(records, list.bare);
    const meta = { limit: query.limit, offset: query.offset, count: page!.count };
    if (cursor === undefined) return new Page(records, counters ? { ...meta, total: results[1]![0]!.total } : meta);
    const last: Position | null = page!.more ? { createdAt: page!.created_at!, id: page!.id! } : null;
    return new Page(records, {
      limit: query.limit,
      count: page!.count,
      next_cursor: last && this.cursors.encode(last, use()),
    });
  }

  /** All records of a list without pages, as the ambient transaction leaves them; what a write answers as `{data}`. */
  async written(caller: Caller, list: List, path: PathValues = {}): Promise<Page> {
    const all = { limit: UNPAGED, offset: 0 };
    const selected = selectedBy(list, all, caller, path);
    const [row] = await this.db.query<PageRow>(offsetPage(caller, selected, all));
    const { ids } = row!;
    const [records] = ids ? await this.db.query<Part>(recordsById(caller, selected, ids)) : [row!];
    return new Page(records!, 'data');
  }

  /** @throws ApiError 503 that suggests a cursor when an offset is too deep for PostgreSQL's time limit */
  private async read<Rows extends object[]>(
    caller: Caller,
    query: PageQuery,
    statements: Sql[],
  ): Promise<{ [Index in keyof Rows]: Rows[Index][] }> {
    try {
      const read = () => this.db.read<Rows>(caller, ...statements);
      return await (isDeep(query) ? this.fairness.deepPages.run(caller.organizationId, read) : read());
    } catch (error) {
      const timedOut = sqlStateOf(error) === SQLSTATE.queryCanceled;
      if (timedOut && 'cursor' in query && query.cursor === undefined && query.offset > 0) throw tooDeep();
      throw error;
    }
  }

  /** The rendered records, or for a page of large records, parts that are read while it is sent. */
  private recordsOf(caller: Caller, list: Selected, { count, data, ids, sizes }: PageRow): Page['records'] {
    if (!ids) return { count, data };
    return this.large.inParts(caller.organizationId, partsOf(ids, sizes!), async (part) => {
      // The client may be slow: each part has its own deadline.
      const [[row]] = await this.db.read<[Part]>({ ...caller, deadline: undefined }, recordsById(caller, list, part));
      return row!;
    });
  }
}

function isDeep(query: PageQuery): boolean {
  return query.offset > DEEP && query.cursor === undefined;
}

function filtersOf(query: PageQuery): Record<string, unknown> {
  const { limit: _limit, offset: _offset, cursor: _cursor, ...rest } = query;
  return rest;
}

/** Groups the records into parts, with at least one record each. */
function partsOf(ids: string[], sizes: number[]): string[][] {
  const parts: string[][] = [];
  let left = 0;
  for (const [index, id] of ids.entries()) {
    if (parts.length === 0 || sizes[index]! > left) {
      parts.push([]);
      left = PART_BYTES;
    }
    parts.at(-1)!.push(id);
    left -= sizes[index]!;
  }
  return parts;
}

function tooDeep(): ApiError {
  return new ApiError(
    'service_unavailable',
    'This offset is too large to be reached in time. Use cursors instead: start with cursor=start.',
    {},
    { 'Retry-After': '1' },
  );
}
