import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/api-error.js';
import { JsonText } from '../views/json-text.js';
import type { View } from '../views/view.js';
import type { Source } from './source.js';
import { visible } from './statements.js';

/** Reads single records for every resource. */
@Injectable()
export class Records {
  constructor(private readonly db: Database) {}

  /** One record as JSON. @throws ApiError 404 */
  async get(caller: Caller, view: View, source: Source, ...where: Sql[]): Promise<JsonText> {
    const [rows] = await this.db.read<[{ data: string }]>(caller, recordOf(caller, view, source, where));
    return found(rows);
  }

  /** The record as the ambient transaction leaves it. @throws ApiError 404 */
  async written(caller: Caller, view: View, source: Source, ...where: Sql[]): Promise<JsonText> {
    return found(await this.db.query<{ data: string }>(recordOf(caller, view, source, where)));
  }
}

function recordOf(caller: Caller, view: View, source: Source, where: Sql[]): Sql {
  return sql`SELECT ${view.json} AS data FROM ${source.all} WHERE ${visible(caller, source, where)}`;
}

function found([row]: { data: string }[]): JsonText {
  if (!row) throw ApiError.notFound();
  return new JsonText(row.data);
}
