import { Injectable } from '@nestjs/common';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { readsCodes } from '@app/access';
import { Vault } from '@app/config';
import { Database } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/api-error.js';
import { JsonText } from '../views/json-text.js';
import { asStored, unsealed } from '../views/sealed.js';
import type { View } from '../views/view.js';
import type { RecordSet } from './source.js';
import { visible } from './statements.js';

/** Reads single records for every resource. */
@Injectable()
export class Records {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
  ) {}

  /** One record as JSON. @param id unless there is only one @throws ApiError 404 */
  async get(caller: Caller, shown: RecordSet, id?: string): Promise<JsonText> {
    const [rows] = await this.db.read<[{ data: string }]>(caller, recordOf(caller, shown, id));
    return this.found(rows, shown.view, readsCodes(caller));
  }

  /** The record as the ambient transaction leaves it, whole: the answer of a write is masked (writes/masks.ts). @throws ApiError 404 */
  async written(caller: Caller, shown: RecordSet, id?: string): Promise<JsonText> {
    return this.found(await this.db.query<{ data: string }>(recordOf(caller, shown, id)), shown.view, true);
  }

  /** The record as it was written last, locked until the end of the ambient transaction. @throws ApiError 404 */
  async locked(caller: Caller, shown: RecordSet, id?: string): Promise<JsonText> {
    const source = typeof shown.source === 'function' ? shown.source(caller) : shown.source;
    // Before its row, as all who write to the table do.
    const copied = id === undefined ? null : source.lockOf(id);
    const named = shown.whole ? source.lockFor(caller) : copied;
    if (named) await this.db.lock(named);
    const held = copied ? empty : sql`FOR NO KEY UPDATE OF ${raw(source.alias)}`;
    const statement = sql`${recordOf(caller, shown, id)} ${held}`;
    return this.found(await this.db.query<{ data: string }>(statement), shown.view, readsCodes(caller));
  }

  private found([row]: { data: string }[], { moving }: View, codes: boolean): JsonText {
    if (!row) throw ApiError.notFound();
    const stored = asStored(row.data);
    const lasting = (field: string, value: unknown) => (moving.includes(field) ? undefined : value);
    const settled = moving.length > 0 ? JSON.stringify(JSON.parse(stored), lasting) : undefined;
    return new JsonText(unsealed(row.data, this.vault, codes), undefined, stored, settled);
  }
}

/** Yields the record as JSON, in the column `data`. */
export function recordOf(caller: Caller, { view, source: from, where, first }: RecordSet, id?: string): Sql {
  const source = typeof from === 'function' ? from(caller) : from;
  const own = [...(id === undefined ? [] : [sql`${raw(source.id)} = ${id}`]), ...(where ? [where] : [])];
  return sql`SELECT ${view.json} AS data FROM ${source.all} WHERE ${visible(caller, source, own)}${first ? sql` ORDER BY ${first} LIMIT 1` : empty}`;
}
