import { migrations } from './migrations/index.js';

interface Queryable {
  query<Rows>(text: string): Promise<Rows>;
}

/** Names of the applied migrations, in order; null for a role without any rights, which cannot see them. */
export async function appliedMigrations(database: Queryable): Promise<string[] | null> {
  const [table] = await database.query<{ readable: boolean | null }[]>(
    `SELECT has_table_privilege(to_regclass('migrations'), 'SELECT') AS readable`,
  );
  if (!table?.readable) return table?.readable === false ? null : [];
  const rows = await database.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  return rows.map(({ name }) => name);
}

/** Names of this build's migrations that the database lacks. What a role lacks that cannot see them, roleFaults reports. */
export async function pendingMigrations(database: Queryable): Promise<string[]> {
  const applied = await appliedMigrations(database);
  return migrations.map(({ name }) => name).filter((name) => applied && !applied.includes(name));
}

/** Whether the schema and its rights are those of a newer build, as during an upgrade. */
export async function isNewer(database: Queryable): Promise<boolean> {
  const known = migrations.map(({ name }) => name);
  return (await appliedMigrations(database))?.some((name) => !known.includes(name)) ?? false;
}
