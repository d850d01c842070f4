import { Injectable } from '@nestjs/common';
import type { Sql } from 'sql-template-tag';
import { readsCodes } from '@app/access';
import { Vault } from '@app/config';
import { Database, type Position, SQLSTATE, sqlStateOf } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/api-error.js';
import { Fairness } from '../request/fairness.js';
import { CURSOR_START, Cursors } from './cursor.js';
import { type List, type PageQuery, type PathValues, type Selected, selectedBy } from './list.js';
import { LargeAnswers } from './large-answers.js';
import { unsealed } from '../views/sealed.js';
import { Page, type Part } from './page.js';
import {
  countedPage,
  countOf,
  cursorPage,
  existenceOf,
  offsetPage,
  PART_BYTES,
  recordsById,
  versionedPage,
  versionOf,
  type CursorRow,
  type PageRow,
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
    private readonly vault: Vault,
  ) {}

  /** One page of a list. @throws ApiError 404 when the list's parent record does not exist; ValidationFailed for a cursor of another list */
  async page(caller: Caller, list: List, given: PageQuery, path: PathValues = {}): Promise<Page> {
    const query = list.bare === 'data' ? { ...given, limit: UNPAGED, offset: 0 } : given;
    const selected = selectedBy(list, query, caller, path);
    const { cursor } = query;
    const use = () => {
      const { limit: _limit, offset: _offset, cursor: _cursor, ...filters } = query;
      return { organizationId: caller.organizationId, list: list.id, filters: { ...path, ...filters } };
    };
    const after = cursor && cursor !== CURSOR_START ? this.cursors.decode(cursor, use()) : null;
    const counters = cursor === undefined && selected.total;
    const inOffsetMode = cursor === undefined;
    const counted = counters && selected.counted;
    const rows = inOffsetMode
      ? (counted ? countedPage : offsetPage)(caller, selected, query)
      : cursorPage(caller, selected, query.limit, after);
    const statements = [list.whole ? versionedPage(caller, selected, rows) : rows];
    if (counters && !counted) statements.push(countOf(caller, counters, selected.totalWithout));
    if (selected.within) statements.push(existenceOf(caller, selected.within));
    const results = await this.read<[CursorRow, ...{ total: number }[]]>(caller, query, statements);
    const [[page]] = results;
    if (selected.within && results.at(-1)!.length === 0) throw ApiError.notFound();
    const records = this.recordsOf(caller, selected, page!);
    if (list.bare) return new Page(records, list.bare);
    const { limit, offset } = query;
    const { count, more, created_at: createdAt, id, version } = page!;
    if (inOffsetMode) {
      return new Page(
        records,
        { limit, offset, count, ...(counters && { total: page!.total ?? results[1]![0]!.total }) },
        version,
      );
    }
    const last: Position | null = more ? { at: createdAt!, id: id! } : null;
    return new Page(records, { limit, count, next_cursor: last && this.cursors.encode(last, use()) }, version);
  }

  /** All records of a list without pages, as the ambient transaction leaves them; what a write answers as `{data}`. */
  async written(caller: Caller, list: List, path: PathValues = {}): Promise<Page> {
    const all = { limit: UNPAGED, offset: 0 };
    const selected = selectedBy(list, all, caller, path);
    const [row] = await this.db.query<PageRow>(offsetPage(caller, selected, all));
    const { ids } = row!;
    const [records] = ids ? await this.db.query<Part>(recordsById(caller, selected, ids)) : [row!];
    return new Page(this.unsealed(caller, records!), 'data');
  }

  /** The version of a list that is replaced as a whole, in the ambient transaction. @param lock until its end */
  async version(caller: Caller, list: List, { lock = false } = {}): Promise<string> {
    if (lock) await this.db.lock(list.source.lockFor(caller));
    const [row] = await this.db.query<{ version: string }>(versionOf(caller, list));
    return row!.version;
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
    if (!ids) return this.unsealed(caller, { count, data });
    return this.large.inParts(caller.organizationId, partsOf(ids, sizes!), async (part) => {
      // The client may be slow: each part has its own deadline.
      const [[row]] = await this.db.read<[Part]>({ ...caller, deadline: undefined }, recordsById(caller, list, part));
      return this.unsealed(caller, row!);
    });
  }

  private unsealed(caller: Caller, { count, data }: Part): Part {
    return { count, data: data && unsealed(data, this.vault, readsCodes(caller)) };
  }
}

function isDeep(query: PageQuery): boolean {
  return query.offset > DEEP && query.cursor === undefined;
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
  const message = 'This offset is too large to be reached in time. Use cursors instead: start with cursor=start.';
  return new ApiError('service_unavailable', message, {}, { 'Retry-After': '1' });
}
