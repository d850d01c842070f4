import sql, { empty, raw, type Sql } from 'sql-template-tag';

/** A row's position in a list, newest first. */
export interface Position {
  at: Date;
  id: string;
}

/** SQL for what follows a position, as a further condition; nothing on the first page. @param at the column with its instant */
export const behind = (after: Position | null, at = 'created_at', id = 'id'): Sql =>
  after ? sql` AND (${raw(at)}, ${raw(id)}) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)` : empty;

/** Rows of a page, and where the next page begins; null on the last one. */
export interface Page<Row> {
  rows: Row[];
  next: Position | null;
}

/** A page of the rows read for it: one more than it shows, if there are further ones. @param at the column with their instant */
export function pageOf<At extends string, Row extends { id: string } & Record<At, Date>>(
  read: Row[],
  most: number,
  at: At,
): Page<Row> {
  const rows = read.slice(0, most);
  const last = read.length > most ? rows.at(-1) : undefined;
  return { rows, next: last ? { at: last[at], id: last.id } : null };
}
