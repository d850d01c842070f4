import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Tables } from '../database/tables.js';
import { type Column, readColumns } from '../database/columns.js';
import { camelCase, snakeCase } from './names.js';

/** A row, keyed by column name. */
export type Row = Record<string, unknown>;

/** Values that cannot be derived from a column's type, allowed values and foreign keys. */
const BY_NAME: Record<string, unknown> = {
  currency: 'AUD',
  duration_minutes: 60,
  ends_at: '2026-03-02T10:00:00Z',
  expires_at: '2100-01-01',
  first_four: '0123',
  last_four: 'cdef',
  method: 'GET',
  period_end: '2100-01-01',
  preferred_times: { monday: ['16:00-18:00'] },
  postcode: '3056',
  start_time: '16:00',
  end_time: '20:30',
  timezone: 'Australia/Melbourne',
};

/** Values that the sample of another column asks for. */
const BY_TABLE: Record<string, (row: Row) => Row> = {
  // An organization has one that is open.
  exports: ({ status }) => (status ? {} : { status: 'expired', ended_at: '2026-03-02T09:00:00Z' }),
  // One is in use.
  logos: () => ({ digest: randomBytes(32).toString('hex'), in_use: null }),
  // Elsewhere nothing could be asked of the organization.
  moves: () => ({ state: 'live' }),
  webhook_endpoints: () => ({ url: 'https://receiver.example.org/hook' }),
  locations: ({ suburb, state, postcode }) => (suburb || state || postcode ? {} : { label: 'Library' }),
  files: ({ upload_id }) => ({ scope: 'org', file_url: upload_id ? null : 'https://files.example.org/sample.pdf' }),
};

const BY_TYPE: Record<string, () => unknown> = {
  uuid: uuidv7,
  text: uuidv7,
  boolean: () => false,
  integer: () => 1,
  bigint: () => 100,
  'double precision': () => 1.5,
  'numeric(5,2)': () => 60,
  date: () => '2026-03-02',
  'timestamp(3) with time zone': () => '2026-03-02T09:00:00Z',
  bytea: () => randomBytes(32),
  'uuid[]': () => [uuidv7()],
  jsonb: () => ({}),
};

/** Makes rows for any table from the migrated schema's description of its columns. */
export class SampleRows {
  /** Read once in a process: the databases of a run are clones of one template. */
  private static known: Promise<SampleRows> | undefined;

  private constructor(private readonly tables: Map<string, Column[]>) {}

  static read(query: (sql: string) => Promise<unknown[]>): Promise<SampleRows> {
    this.known ??= readColumns(query).then((columns) => new SampleRows(Map.groupBy(columns, ({ table }) => table)));
    return this.known;
  }

  columns(table: string): Column[] {
    const columns = this.tables.get(table);
    if (!columns) throw new Error(`There is no table ${table}`);
    return columns;
  }

  /**
   * The row with a value in every required column.
   *
   * @param known ids for foreign keys, by column name
   */
  complete(table: string, row: Row, known: Row = {}): Row {
    const needed = this.columns(table).filter(
      ({ name, nullable, defaulted, generated }) => !nullable && !defaulted && !generated && row[name] === undefined,
    );
    const samples = needed.map((column) => [column.name, knownId(column, known) ?? sampleOf(column)] as const);
    return { ...Object.fromEntries(samples), ...BY_TABLE[table]?.(row), ...row };
  }

  /** The tables that have this column. */
  tablesWith(column: string): string[] {
    return [...this.tables.keys()].filter((table) => this.columns(table).some(({ name }) => name === column));
  }

  /**
   * Adds a row to each table, after the rows that it refers to.
   *
   * @param known ids for foreign keys, by column name
   * @returns the rows' ids, likewise
   */
  async each(tables: string[], known: Row, add: (table: string, row: Row, known: Row) => Promise<unknown>): Promise<Row> {
    const [left, ids] = [new Set(tables), {} as Row];
    while (left.size > 0) {
      const table = [...left].find((one) => this.isPossible(one, { ...known, ...ids }));
      if (!table) throw new Error(`Say which rows ${[...left].join(', ')} refer to: in fill() of the worlds`);
      const row = this.complete(table, {}, { ...known, ...ids });
      await add(table, row, { ...known, ...ids });
      ids[idNameOf(table)] = row.id;
      left.delete(table);
    }
    return ids;
  }

  /** A value for each optional column: a known id, or else a sample. */
  optional(table: string, known: Row): Row {
    const columns = this.columns(table).filter(({ nullable, name }) => nullable && name !== 'organization_id');
    const values = columns.map((column) => [column.name, column.reference ? (knownId(column, known) ?? null) : sampleOf(column)]);
    return Object.fromEntries(values) as Row;
  }

  /** Whether the ids for all required foreign keys are known. */
  private isPossible(table: string, known: Row): boolean {
    return this.columns(table).every((column) => !column.reference || column.nullable || column.defaulted || knownId(column, known) !== undefined);
  }

  /** One statement that inserts rows with the same columns. It returns each as `row`, in the given order. */
  insertion(table: string, rows: Row[]): { sql: string; values: [string] } {
    const columns = Object.keys(rows[0]!).join(', ');
    const sql = `INSERT INTO ${table} (${columns})
      SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1) RETURNING to_jsonb(${table}.*) AS row`;
    return { sql, values: [JSON.stringify(rows.map(toJson))] };
  }

  /** Converts a returned `row` to the type in {@link Tables}. */
  stored<T extends keyof Tables>(table: T, row: Row): Tables[T] {
    const values = this.columns(table).map(({ name, type }) => [camelCase(name), fromJson(type, row[name])]);
    return Object.fromEntries(values) as Tables[T];
  }
}

/** Converts a row of {@link Tables} to column names. */
export function toColumns(row: object): Row {
  const given = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), value as unknown]));
}

const idNameOf = (table: string): string => `${table.replace(/ies$/, 'y').replace(/s$/, '')}_id`;

/** The id for a foreign key: that of its own name, such as `band_id`, or of its table's, `rate_band_id`. */
const knownId = ({ name, reference }: Column, known: Row): unknown => known[name] ?? (reference ? known[idNameOf(reference.table)] : undefined);

function sampleOf({ table, name, type, values, reference }: Column): unknown {
  if (reference && name !== 'id') throw new Error(`${table}.${name}: give the ${reference.table} that it refers to`);
  const sample = BY_NAME[name] ?? values?.[0] ?? BY_TYPE[type]?.();
  if (sample === undefined) throw new Error(`${table}.${name}: give the type ${type} a sample in BY_TYPE`);
  return sample;
}

const bytea = (value: unknown): unknown => (Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value);

const toJson = (row: Row): Row => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, bytea(value)]));

function fromJson(type: string, value: unknown): unknown {
  if (value === null) return null;
  if (type.startsWith('timestamp')) return new Date(value as string);
  return type === 'bytea' ? Buffer.from((value as string).slice(2), 'hex') : value;
}
