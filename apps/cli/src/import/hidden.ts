import type { Client } from 'pg';
import { PECULIARITIES } from './tables.js';
import type { Staged } from './staging.js';

/**
 * Lines whose id another organization has. Rows that nobody sees (legacy feedback, the results of a student without a
 * session) are written, and not seen afterwards by the one who wrote them; so a row that is not seen although its id
 * exists is this organization's, imported before, unless it would be seen if it were.
 */
export async function takenLines(client: Client, staged: Staged, from: number, to: number): Promise<number[]> {
  const { table, relation } = staged;
  const unseen = `s.line > $1 AND s.line <= $2 AND NOT EXISTS (SELECT FROM ${table.name} t WHERE t.id = s.id)`;
  if (table.name === 'homework') return takenHomework(client, staged, unseen, [from, to]);
  const { wouldBeSeen } = PECULIARITIES[table.name]!;
  const { rows } = await client.query<{ line: number }>(
    `SELECT s.line FROM ${relation} s WHERE ${unseen} AND (${wouldBeSeen!}) ORDER BY s.line`,
    [from, to],
  );
  return rows.map(({ line }) => line);
}

/** Whose homework is only its trigger can say: a copy under another id is written, looked for, and taken back. */
async function takenHomework(client: Client, { relation }: Staged, unseen: string, range: number[]): Promise<number[]> {
  const copied = 'assigned_by, title, homework_type, scope, classroom_id, group_id, student_id';
  const copyId = `md5(s.id::text || current_organization_id()::text)::uuid`;
  await client.query('SAVEPOINT probe');
  await client.query(
    `INSERT INTO homework (id, created_at, ${copied}) SELECT ${copyId}, coalesce(s.created_at, now()), ${copied}
      FROM ${relation} s WHERE ${unseen} ON CONFLICT DO NOTHING`,
    range,
  );
  const { rows } = await client.query<{ line: number }>(
    `SELECT s.line FROM ${relation} s WHERE ${unseen} AND EXISTS (SELECT FROM homework t WHERE t.id = ${copyId})
      ORDER BY s.line`,
    range,
  );
  await client.query('ROLLBACK TO SAVEPOINT probe; RELEASE SAVEPOINT probe');
  return rows.map(({ line }) => line);
}
