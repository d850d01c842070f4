import pg from 'pg';
import { lockNumber } from '@app/database';
import { DEMO_ORGANIZATIONS } from './demo/demo.js';
import { sampleQuestions } from './demo/sample-questions.js';
import { Failure } from './output.js';

const { escapeIdentifier, escapeLiteral } = pg;

/** A table, with the columns that determine its rows' owner. */
interface Table {
  name: string;
  owned: boolean;
  /** Single-column foreign keys. Composite ones include the organization, which the row has, too. */
  references: { column: string; table: string; to: string }[];
  /** All tables that this one refers to. */
  parents: string[];
}

/** Reads the tables from the schema, so that a new table needs no change here. */
const TABLES = `
  SELECT c.relname AS name,
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id') AS owned,
    coalesce((SELECT json_agg(json_build_object('column', a.attname, 'table', p.relname, 'to', b.attname))
      FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid AND p.oid <> c.oid AND p.relname <> 'organizations'
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.conkey[1]
      JOIN pg_attribute b ON b.attrelid = p.oid AND b.attnum = f.confkey[1]
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND cardinality(f.conkey) = 1), '[]') AS references,
    ARRAY(SELECT confrelid::regclass::text FROM pg_constraint
      WHERE conrelid = c.oid AND contype = 'f' AND confrelid <> c.oid) AS parents
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'migrations'`;

/** Logins that belong to these organizations only, and their conversations. */
const temporary = (ids: string) => `
  CREATE TEMPORARY TABLE dropped_users ON COMMIT DROP AS
  WITH ties AS (SELECT user_id, organization_id FROM members UNION ALL SELECT user_id, organization_id FROM parents)
  SELECT user_id AS id FROM ties GROUP BY user_id HAVING bool_and(organization_id = ANY (${ids}));
  CREATE TEMPORARY TABLE dropped_conversations ON COMMIT DROP AS
  SELECT DISTINCT conversation_id AS id FROM conversation_participants WHERE user_id IN (SELECT id FROM dropped_users);`;

/** Removes the demo organizations with all their data, and the demo's questions, in one transaction. */
export async function removeDemo(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN; SET LOCAL app.maintenance = on');
    const { rows } = await client.query<{ id: string }>(
      `SELECT o.id FROM organizations o JOIN unnest($1::text[], $2::text[]) d (name, slug) USING (name, slug)`,
      [DEMO_ORGANIZATIONS.map(({ name }) => name), DEMO_ORGANIZATIONS.map(({ slug }) => slug)],
    );
    await dropOrganizations(
      client,
      rows.map(({ id }) => id),
    );
    await client.query('DELETE FROM questions WHERE organization_id IS NULL AND id = ANY ($1)', [
      sampleQuestions().map(({ id }) => id),
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    await client.end();
  }
}

/**
 * Removes organizations with all their rows, and the logins that belong to no other, in a transaction of the owner with
 * `app.maintenance` on. Files stay in the storage.
 */
export async function dropOrganizations(client: pg.Client, organizationIds: string[]): Promise<void> {
  if (organizationIds.length === 0) return;
  const ids = `${escapeLiteral(`{${organizationIds.join(',')}}`)}::uuid[]`;
  // First, because it keeps logins as they are.
  await client.query(`DELETE FROM moves WHERE organization_id = ANY (${ids})`);
  await client.query(temporary(ids));
  const { rows: tables } = await client.query<Table>(TABLES);
  const byName = new Map(tables.map((table) => [table.name, table]));
  const ordered = childrenFirst(tables);
  // Runs twice, because triggers add counters to a table that has already been emptied.
  for (const name of [...ordered.filter((table) => table !== 'organizations'), ...ordered]) {
    const condition = conditionOf(name, byName, ids);
    if (condition) await client.query(`DELETE FROM ${escapeIdentifier(name)} t WHERE ${condition}`);
  }
}

/** References from large tables that no index begins with: the delete of each row that they may name would read all of the table. */
const UNSERVED = `
  SELECT DISTINCT ON (1, 2) conrelid::regclass::text AS "table", columns, 'dropping_' || oid AS index FROM (
    SELECT f.oid, f.conrelid, (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum DESC) FROM pg_attribute
      WHERE attrelid = f.conrelid AND attnum = ANY (f.conkey)) AS columns
    FROM pg_constraint f WHERE f.contype = 'f' AND f.confrelid <> 'organizations'::regclass AND pg_relation_size(f.conrelid) > 1e6
      AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = f.conrelid AND (i.indkey::int2[])[0:cardinality(f.conkey) - 1] @> f.conkey
        AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$'))) f ORDER BY 1, 2, oid`;

/**
 * Keeps an index for each of these references while `work` deletes many rows: permanent ones would slow down every write. They are built beside
 * other work, and so outside of a transaction; what an interrupted command left is removed first.
 *
 * @throws Failure beside another one
 */
export async function withIndexes<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  const { rows: locks } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
    lockNumber('indexes for removing an organization'),
  ]);
  // Not waited for: building an index would wait for whoever waits.
  if (!locks[0]!.free) throw new Failure('Another organization is being removed. Try again once it is gone.');
  const remove = async () => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT indexname AS name FROM pg_indexes WHERE indexname LIKE 'dropping\\_%'`,
    );
    for (const { name } of rows) await client.query(`DROP INDEX CONCURRENTLY ${name}`);
  };
  await remove();
  try {
    const { rows } = await client.query<{ table: string; columns: string; index: string }>(UNSERVED);
    for (const { table, columns, index } of rows)
      await client.query(`CREATE INDEX CONCURRENTLY ${index} ON ${table} (${columns})`);
    return await work();
  } finally {
    await remove();
  }
}

/** Orders each table before those that it refers to. */
function childrenFirst(tables: Table[]): string[] {
  const ordered: string[] = [];
  let left = tables;
  while (left.length > 0) {
    const free = left.filter(({ name }) => !left.some(({ parents }) => parents.includes(name)));
    if (free.length === 0)
      throw new Error(`Tables that refer to each other: ${left.map(({ name }) => name).join(', ')}`);
    ordered.push(...free.map(({ name }) => name));
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
}

/** SQL for the rows of these organizations in a table; empty for a table without an owner. */
function conditionOf(name: string, tables: Map<string, Table>, ids: string): string {
  if (name === 'organizations') return `t.id = ANY (${ids})`;
  if (name === 'users' || name === 'conversations') return `t.id IN (SELECT id FROM dropped_${name})`;
  const { owned, references } = tables.get(name)!;
  const through = references.map(({ column, table, to }) => {
    const condition = conditionOf(table, tables, ids);
    const rows = `SELECT t.${escapeIdentifier(to)} FROM ${escapeIdentifier(table)} t WHERE ${condition}`;
    return condition && `t.${escapeIdentifier(column)} IN (${rows})`;
  });
  return [owned && `t.organization_id = ANY (${ids})`, ...through].filter(Boolean).join(' OR ');
}
