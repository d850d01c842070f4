import sql, { empty, raw, type Sql } from 'sql-template-tag';
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

const ARCHIVABLE = ['subjects', 'classrooms', 'student_groups'];

/** Whether rows of a table can be archived: what is done to them ends, what names them stays. */
export const isArchivable = (table: string): boolean => ARCHIVABLE.includes(table);

/**
 * What a new reference may name: nothing that is archived, as if it did not exist. What a row names already, it may go on naming.
 *
 * @param alias of the table @param named SQL for the ids that are named already
 */
export const namable = (alias: string, named: Sql = empty): Sql =>
  sql`(NOT ${raw(alias)}.is_archived${named === empty ? empty : sql` OR ${raw(alias)}.id IN (${named})`})`;

/**
 * The ids of the organization's rows with these ids or codes, in the ambient transaction.
 *
 * @param named SQL for the ids that the same row names already @throws Refused for one that is unknown or archived
 */
export async function findIds(
  db: Database,
  table: CodedTable,
  organizationId: string,
  names: string[],
  named?: Sql,
): Promise<string[]> {
  const ids = names.flatMap((name) => canonicalUuid(name) ?? []);
  const rows = await db.query<{ id: string; code: string }>(sql`
    SELECT id, code FROM ${raw(table)} t WHERE organization_id = ${organizationId} AND (id = ANY (${ids}) OR code = ANY (${names}))
      AND ${namable('t', named)}`);
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
  named?: Sql,
): Promise<string | null> {
  if (!name) return null;
  const [id] = await findIds(db, table, organizationId, [name], named);
  return id!;
}
