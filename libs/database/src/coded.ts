import sql, { raw, type Sql } from 'sql-template-tag';
import { Refused } from '@app/rules';
import type { Database } from './database.js';
import { canonicalUuid } from './values.js';

/** Tables whose rows have a code beside their id, and are named by either. */
export type CodedTable = 'subjects';

/** SQL for the id of the organization's row with this id or code; of no row for a code that there is not. */
export function idOf(table: CodedTable, organizationId: string, name: string): Sql {
  const id = canonicalUuid(name);
  // Compared without a look-up: rows refer only to their own organization's.
  if (id) return sql`${id}::uuid`;
  return sql`(SELECT id FROM ${raw(table)} WHERE organization_id = ${organizationId} AND code = ${name})`;
}

/** The ids of the organization's rows with these ids or codes, in the ambient transaction. @throws Refused for an unknown one */
export async function findIds(
  db: Database,
  table: CodedTable,
  organizationId: string,
  names: string[],
): Promise<string[]> {
  const ids = names.flatMap((name) => canonicalUuid(name) ?? []);
  const rows = await db.query<{ id: string; code: string }>(sql`
    SELECT id, code FROM ${raw(table)} WHERE organization_id = ${organizationId} AND (id = ANY (${ids}) OR code = ANY (${names}))`);
  return names.map((name) => {
    const row = rows.find(({ id, code }) => id === canonicalUuid(name) || code === name);
    if (!row) throw Refused.notFound();
    return row.id;
  });
}

/** The same for one row; null for none wanted. */
export async function findId(
  db: Database,
  table: CodedTable,
  organizationId: string,
  name: string | null | undefined,
): Promise<string | null> {
  if (!name) return null;
  const [id] = await findIds(db, table, organizationId, [name]);
  return id!;
}
