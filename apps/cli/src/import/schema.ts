import type { Client } from 'pg';
import { STATE_COLUMNS } from '@app/database';
import { type FileFormat, IMPORT, ORGANIZATION_COLUMNS, type TableRules } from './tables.js';
import { describeRule } from './words.js';

export interface Column {
  name: string;
  /** As PostgreSQL names it: uuid, text[], timestamp(3) with time zone. */
  type: string;
  /** Never null. */
  required: boolean;
  /** SQL for the value of a missing field. */
  fallback: string | null;
}

/** A column whose value must identify a row of `table` by its column `key`. */
export interface Reference {
  constraint: string;
  column: string;
  table: string;
  key: string;
}

/** Columns that are unique together; within the organization, if the index includes it. */
export interface Unique {
  index: string;
  columns: string[];
}

export interface Check {
  constraint: string;
  columns: string[];
  /** The columns to blame. */
  at: string[];
  expression: string;
  /** Completes "<field>: …". */
  message: string;
}

/** A table, as the importer sees it. Organization columns are left out, because they all hold the import's target. */
export interface Table {
  name: string;
  file: string;
  /** Columns that files may set. */
  columns: Column[];
  /** Additional staged columns, which are computed from the others. */
  derived: Column[];
  /** Columns that files cannot set and that new rows have a default of, for CHECKs that read them. */
  kept: Column[];
  /** Whether rows have an organization column. */
  owned: boolean;
  /** Whether rows say when they were changed last. */
  touched: boolean;
  key: string[];
  references: Reference[];
  uniques: Unique[];
  checks: Check[];
  rules: TableRules;
}

interface ColumnRow {
  table: string;
  name: string;
  type: string;
  required: boolean;
  fallback: string | null;
}

interface ConstraintRow {
  table: string;
  name: string;
  columns: string[];
  expression: string | null;
  /** Of a CHECK that compares columns: the one to blame, and the words. */
  comment: string | null;
  foreign_table: string | null;
  foreign_columns: string[];
}

interface IndexRow {
  table: string;
  name: string;
  columns: string[];
  primary: boolean;
  condition: string | null;
}

const COLUMNS = `
  SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required,
    pg_get_expr(d.adbin, d.adrelid) AS fallback
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attgenerated = ''
  ORDER BY a.attnum`;

const CONSTRAINTS = `
  SELECT c.relname AS table, k.conname AS name, ${names('k.conkey', 'k.conrelid')} AS columns,
    pg_get_expr(k.conbin, k.conrelid) AS expression, obj_description(k.oid, 'pg_constraint') AS comment,
    f.relname AS foreign_table, ${names('k.confkey', 'k.confrelid')} AS foreign_columns
  FROM pg_constraint k
  JOIN pg_class c ON c.oid = k.conrelid
  LEFT JOIN pg_class f ON f.oid = k.confrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND k.contype IN ('c', 'f')
  ORDER BY k.conname`;

const INDEXES = `
  SELECT c.relname AS table, i.relname AS name, ${names('x.indkey', 'x.indrelid')} AS columns,
    x.indisprimary AS primary, pg_get_expr(x.indpred, x.indrelid) AS condition
  FROM pg_index x
  JOIN pg_class c ON c.oid = x.indrelid
  JOIN pg_class i ON i.oid = x.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND x.indisunique
    -- Names that differ by case alone have a row rule.
    AND x.indexprs IS NULL
  ORDER BY i.relname`;

function names(numbers: string, relation: string): string {
  return `ARRAY(SELECT a.attname::text FROM unnest(${numbers}) WITH ORDINALITY AS n (number, place)
    JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = n.number ORDER BY n.place)`;
}

/**
 * Reads the importable tables, in import order, from the database's own description. Checks of columns, defaults,
 * enumerations, lengths and references therefore need no second one.
 */
export async function readSchema(client: Client, format: FileFormat = IMPORT): Promise<Table[]> {
  const { rows: columns } = await client.query<ColumnRow>(COLUMNS, [format.tables]);
  const { rows: constraints } = await client.query<ConstraintRow>(CONSTRAINTS, [format.tables]);
  const { rows: indexes } = await client.query<IndexRow>(INDEXES, [format.tables]);
  return format.tables.map((name) => {
    const of = <Row extends { table: string }>(rows: Row[]): Row[] => rows.filter((row) => row.table === name);
    return describeTable(name, format, of(columns), of(constraints), of(indexes));
  });
}

function describeTable(
  name: string,
  { kept: keptColumns, rules: allRules }: FileFormat,
  all: ColumnRow[],
  constraints: ConstraintRow[],
  indexes: IndexRow[],
): Table {
  if (all.length === 0) throw new Error(`The database has no table ${name}: run "npm run cli -- migrate" first`);
  const rules = allRules[name] ?? {};
  const columns = all.filter((column) => !keptColumns.has(column.name)).map(toColumn);
  const derivedNames = Object.keys(rules.derived ?? {});
  const derived = all.filter((column) => derivedNames.includes(column.name)).map(toColumn);
  const staged = new Set([...columns, ...derived].map((column) => column.name));
  const kept = all.filter((column) => !staged.has(column.name) && column.fallback !== null).map(toColumn);
  const known = new Set([...staged, ...kept.map((column) => column.name)]);
  const key = withoutOrganization(indexes.find((index) => index.primary)?.columns ?? []);

  const references: Reference[] = [];
  const checks: Check[] = [];
  for (const {
    name: constraint,
    columns: used,
    expression,
    comment,
    foreign_table: table,
    foreign_columns,
  } of constraints) {
    // The fields from which columns are derived have their own rule.
    const ofDerived = used.length === 1 && derivedNames.includes(used[0]!);
    const applies = used.some((column) => staged.has(column)) && used.every((column) => known.has(column));
    if (expression !== null && !ofDerived && applies) {
      const [, at, words] = /^(\w+): (.*)$/.exec(comment ?? '') ?? [];
      checks.push({
        constraint,
        columns: used,
        at: at ? [at] : used,
        expression,
        message: words ?? describeRule(expression),
      });
    }
    const [column] = withoutOrganization(used);
    const place = used.indexOf(column ?? '');
    if (table && column && !keptColumns.has(column))
      references.push({ constraint, column, table, key: foreign_columns[place]! });
  }
  for (const stricter of rules.references ?? []) {
    const place = references.findIndex((reference) => reference.column === stricter.column);
    references[place] = { ...references[place]!, ...stricter };
  }
  const uniques = indexes
    // Partial indexes without the organization apply to the platform's own rows, those with a flag of ours to none of a file
    // or, in an export, to some.
    .filter(({ primary, condition, columns: used }) => {
      if (primary || !condition) return !primary;
      const flagged = columns.some(({ name }) => STATE_COLUMNS.has(name) && condition.includes(name));
      return used.includes('organization_id') && !keptColumns.has(condition) && !flagged;
    })
    .map((index) => ({ index: index.name, columns: withoutOrganization(index.columns) }))
    .filter(({ columns }) => columns.join() !== key.join() && columns.every((column) => staged.has(column)));
  const owned = all.some((column) => column.name === 'organization_id');
  return {
    name,
    file: `${name}.ndjson`,
    columns,
    derived,
    kept,
    owned,
    touched: columns.some((column) => column.name === 'updated_at'),
    key,
    references,
    uniques,
    checks,
    rules,
  };
}

function toColumn({ name, type, required, fallback }: ColumnRow): Column {
  return { name, type, required, fallback };
}

function withoutOrganization(columns: string[]): string[] {
  return columns.filter((column) => !ORGANIZATION_COLUMNS.has(column));
}
