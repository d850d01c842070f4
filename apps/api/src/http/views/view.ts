import { raw, type Sql } from 'sql-template-tag';
import type { Column } from './columns.js';
import { objectOf, type Schema, type Shape } from './schemas.js';

/**
 * A public shape: the allowed fields, in the order of the contract. PostgreSQL builds the JSON from it (a third of the work of parsing and
 * stringifying rows), and the OpenAPI document comes from the same lines.
 */
export class View implements Shape {
  /** The columns under the names of their fields; the tables' aliases are those that the columns use. */
  readonly columns: Sql;
  /** The fields as they are shown, for a query over {@link columns}. */
  readonly fields: Sql;
  /** Yields the shape as JSON text. */
  readonly json: Sql;
  /** The size in bytes of the variable-size fields in a row of {@link columns}; null when there are none. */
  readonly size: Sql | null;
  readonly schema: Schema;
  /** The expressions whose values the fields show. */
  readonly values: ReadonlyMap<string, string>;
  /** The fields that change by themselves. */
  readonly moving: readonly string[];

  /** @param name of the schema in the OpenAPI document */
  constructor(
    readonly name: string,
    columns: Record<string, Column>,
  ) {
    const fields = Object.entries(columns);
    const list = fields.map(([field, { sql }]) => `${sql} AS "${field}"`).join(', ');
    const sizes = fields.flatMap(([field, { size }]) => (size ? `coalesce(${size(`"${field}"`)}, 0)` : []));
    this.columns = raw(list);
    const shown = fields.map(([field, { shown }]) => (shown ? `${shown(`"${field}"`)} AS "${field}"` : `"${field}"`));
    this.fields = raw(shown.join(', '));
    this.json = raw(`(SELECT row_to_json(v)::text FROM (SELECT ${shown.join(', ')} FROM (SELECT ${list}) row) v)`);
    this.size = sizes.length > 0 ? raw(sizes.join(' + ')) : null;
    this.schema = objectOf(Object.fromEntries(fields.map(([field, { schema }]) => [field, schema])));
    this.moving = fields.flatMap(([field, { moving }]) => (moving ? field : []));
    this.values = new Map(fields.map(([field, { value }]) => [field, value]));
  }
}
