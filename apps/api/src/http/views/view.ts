import { raw, type Sql } from 'sql-template-tag';
import type { Column, Schema } from './columns.js';

/**
 * A public shape: the whitelist of what goes out, in the order of the contract. PostgreSQL builds the JSON from it (a
 * third of the work of parsing rows and stringifying them again), and the OpenAPI document describes it from the same
 * lines, so the two cannot differ.
 */
export class View {
  /** Yields the shape as JSON text; the tables' aliases are those that the columns use. */
  readonly json: Sql;
  readonly schema: Schema;

  /** @param name of the schema in the OpenAPI document */
  constructor(
    readonly name: string,
    columns: Record<string, Column>,
  ) {
    const fields = Object.entries(columns);
    const list = fields.map(([field, { sql }]) => `${sql} AS "${field}"`).join(', ');
    this.json = raw(`(SELECT row_to_json(v)::text FROM (SELECT ${list}) v)`);
    this.schema = {
      type: 'object',
      properties: Object.fromEntries(fields.map(([field, { schema }]) => [field, schema])),
      required: fields.map(([field]) => field),
      additionalProperties: false,
    };
  }
}
