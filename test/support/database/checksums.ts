import type { Factories } from '../data/factories.js';

/** Checksums of all tables, to detect changes. Excludes keys, the audit log and refusals, which even refused requests change. */
export async function checksums(make: Factories): Promise<Record<string, string>> {
  const tables = await make.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
      AND c.relname NOT IN ('api_keys', 'audit_log', 'refusals') ORDER BY 1`,
  );
  const sums: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await make.query<{ sum: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') AS sum FROM ${name} t`,
    );
    sums[name] = row!.sum;
  }
  return sums;
}
