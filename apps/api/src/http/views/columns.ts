import { BOOLEAN, enumOf, INSTANT, orNull, type Schema, textLike, UUID, withExample } from './schemas.js';

/** One field of a public shape: its SQL and its JSON Schema. */
export interface Column {
  /** An SQL expression whose JSON form goes over the wire. Never contains input. */
  sql: string;
  /** The expression whose value that shows: null where it is. */
  value: string;
  schema: Schema;
  /** SQL for the size in bytes of a variable-size value, given its field: large pages are sent in parts (lists/statements.ts). */
  size?: (field: string) => string;
  /** SQL for what is shown, given the name of its field, if reading many rows should do without this work. */
  shown?: (field: string) => string;
  /** See {@link moving}. */
  moving?: true;
}

const of = (sql: string, schema: Schema, size?: Column['size'], value = sql): Column => ({ sql, value, schema, size });

/** PostgreSQL knows this without reading out-of-line (TOAST) values. */
const bytesOfText = (field: string) => `octet_length(${field})`;
/** Nearly the length of its JSON. The slice reads the value without writing its text, which takes 100 times as long. */
const bytesOfArray = (field: string) => `pg_column_size(${field}[:])`;
/** 36 characters, two quotes and a comma each. */
const bytesOfUuids = (field: string) => `39 * cardinality(${field})`;
const bytesAsText = (field: string) => `octet_length(${field}::text)`;
/** Nearly the length of its text, which takes longer to write. The empty path reads the whole value. */
const bytesOfJsonb = (field: string) => `pg_column_size(${field} #> '{}')`;

export const uuid = (sql: string) => of(sql, UUID);

export const text = (sql: string, example?: string) => of(sql, textLike(example), bytesOfText);

export const oneOf = (sql: string, values: readonly string[]) => of(sql, enumOf(values));

export const instant = (sql: string) =>
  of(`to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`, INSTANT, undefined, sql);

/** A day without a time. */
export const day = (sql: string) =>
  of(`to_char(${sql}, 'YYYY-MM-DD')`, { type: 'string', format: 'date', examples: ['2026-05-01'] }, undefined, sql);

export const integer = (sql: string, limits: { minimum?: number; maximum?: number; examples?: number[] } = {}) =>
  of(sql, { type: 'integer', ...limits });

/** Integer cents; PostgreSQL's bigint, far below 2^53. */
export const cents = (sql: string) => of(sql, { type: 'integer', examples: [8500] });

export const number = (sql: string) => of(sql, { type: 'number' });

export const flag = (sql: string) => of(sql, BOOLEAN);

/** An array of strings, empty rather than null. */
export const texts = (sql: string, items: Schema) =>
  of(`coalesce(${sql}, '{}')`, { type: 'array', items }, items === UUID ? bytesOfUuids : bytesOfArray);

/** A column that is already JSON, with its schema. */
export const json = (sql: string, schema: Schema) => of(sql, schema, bytesAsText);

/** A jsonb column, without the blanks after colons and commas. Long values keep them: finding them in a megabyte takes 15 ms. */
export const jsonb = (sql: string, schema: Schema): Column => ({
  sql,
  value: sql,
  schema,
  size: bytesOfJsonb,
  shown: (field) => String.raw`CASE WHEN pg_column_size(${field}) > 2000 THEN to_json(${field})
    ELSE regexp_replace(${field}::text, '("(?:[^"\\]|\\.)*")|([:,]) ', '\1\2', 'g')::json END`,
});

/** The same column with an example that fits the others. */
export const like = (column: Column, example: unknown): Column => ({
  ...column,
  schema: withExample(column.schema, example),
});

/** A field that changes by itself, such as a queue's length: `If-Match` does not compare it. */
export const moving = (column: Column): Column => ({ ...column, moving: true });

/** A field that is always present, and null without a value. */
export const nullable = (column: Column): Column => ({ ...column, schema: orNull(column.schema) });
