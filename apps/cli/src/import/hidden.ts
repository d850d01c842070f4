import type { Client } from 'pg';
import type { Staged } from './staging.js';

export interface Taken {
  line: number;
  field: string;
}

/**
 * Finds lines whose id belongs to another organization. Some rows (legacy feedback, results of students without a
 * session) are invisible even to the organization that wrote them. An existing invisible row therefore counts as
 * imported before, unless this organization would see it if it were its own.
 */
export async function takenLines(client: Client, staged: Staged, from: number, to: number): Promise<Taken[]> {
  const { table, relation } = staged;
  const unseen = `s.line > $1 AND s.line <= $2 AND NOT EXISTS (SELECT FROM ${table.name} t WHERE t.id = s.id)`;
  if (table.name === 'homework') return takenHomework(client, staged, unseen, [from, to]);
  const { taken, takenField = `'id'` } = table.rules;
  const { rows } = await client.query<Taken>(
    `SELECT s.line, ${takenField} AS field FROM ${relation} s WHERE ${unseen} AND (${taken!}) ORDER BY s.line`,
    [from, to],
  );
  return rows;
}

/** Only the trigger can derive homework's organization, so this inserts copies with other ids and rolls them back. */
async function takenHomework(client: Client, { relation }: Staged, unseen: string, range: number[]): Promise<Taken[]> {
  const copied = 'assigned_by, title, homework_type, scope, classroom_id, group_id, student_id';
  const copyId = `md5(s.id::text || current_organization_id()::text)::uuid`;
  await client.query('SAVEPOINT probe');
  await client.query(
    `INSERT INTO homework (id, created_at, ${copied}) SELECT ${copyId}, coalesce(s.created_at, now()), ${copied}
      FROM ${relation} s WHERE ${unseen} ON CONFLICT DO NOTHING`,
    range,
  );
  const { rows } = await client.query<Taken>(
    `SELECT s.line, 'id' AS field FROM ${relation} s WHERE ${unseen} AND EXISTS (SELECT FROM homework t WHERE t.id = ${copyId})
      ORDER BY s.line`,
    range,
  );
  await client.query('ROLLBACK TO SAVEPOINT probe; RELEASE SAVEPOINT probe');
  return rows;
}
