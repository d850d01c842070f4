import type { QueryResultRow } from 'pg';
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { Refused, type StateTable } from '@app/rules';
import type { Database } from './database.js';
import type { Tables } from './tables.js';

/** Tables whose records are acted on. */
type Table =
  | keyof Tables
  | 'adjustments'
  | 'files'
  | 'payouts'
  | 'questions'
  | 'locations'
  | 'rate_bands'
  | 'rate_cells'
  | 'student_groups'
  | 'subjects'
  | 'tutor_tiers';

/**
 * Reads one of the organization's records and locks it until the end of the ambient transaction, so that what is decided by
 * its state is still true when it is written.
 *
 * @throws Refused for an unknown one
 */
export async function lockRecord<Row extends QueryResultRow>(
  db: Database,
  table: Table,
  organizationId: string,
  id: string,
  columns: Sql,
  owner = 'organization_id',
): Promise<Row> {
  const [row] = await db.query<Row>(sql`
    SELECT ${columns} FROM ${raw(table)} WHERE ${raw(owner)} = ${organizationId} AND id = ${id} FOR UPDATE`);
  if (!row) throw Refused.notFound();
  return row;
}

/** What is done to which record, and what it changes besides the status. */
export interface Step<State extends string, Action extends string, Row extends QueryResultRow> {
  organizationId: string;
  id: string;
  action: Action;
  /** What `set` needs of the record, besides its status. */
  reads?: Sql;
  /** The other columns to set. May refuse, also what has happened, when `next` is null and nothing is set. */
  set?: (next: State | null, before: Row & { status: State }) => Sql[];
}

/**
 * Takes a record from its state to the one that an action leads to, in the ambient transaction.
 *
 * @returns false if it has happened before, which changes nothing
 * @throws Refused for an unknown record, and in a state in which the action is not possible
 */
export async function transition<
  State extends string,
  Action extends string,
  Row extends QueryResultRow = QueryResultRow,
>(
  db: Database,
  table: Table,
  states: StateTable<State, Action>,
  { organizationId, id, action, reads = empty, set }: Step<State, Action, Row>,
): Promise<boolean> {
  const columns = reads === empty ? sql`status` : sql`status, ${reads}`;
  const before = await lockRecord<Row & { status: State }>(db, table, organizationId, id, columns);
  const next = states.next(action, before.status);
  const others = set?.(next, before) ?? [];
  if (next === null) return false;
  await db.query(sql`
    UPDATE ${raw(table)} SET ${join([sql`status = ${next}`, ...others])} WHERE organization_id = ${organizationId} AND id = ${id}`);
  return true;
}
