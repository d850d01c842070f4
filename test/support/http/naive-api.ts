/**
 * A textbook bulk invite with bugs that the harness must find: it checks for a person and inserts them in separate
 * statements, and stores the key only at the end. Runs as a program, see NaiveVictim.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

type Row = { type: string; first_name: string; last_name: string; email: string | null; parent?: Omit<Row, 'type' | 'parent'> };

const pool = new pg.Pool({ connectionString: process.argv.at(-1), max: 5 });

async function provision(row: Row): Promise<{ status: 'ok' | 'exists'; id: string }> {
  const known = row.email && (await pool.query<{ id: string }>('SELECT id FROM people WHERE email = $1', [row.email]));
  if (known && known.rows[0]) return { status: 'exists', id: known.rows[0].id };
  const { rows } = await pool.query<{ id: string }>('INSERT INTO people (first_name, last_name, email) VALUES ($1, $2, $3) RETURNING id', [
    row.first_name,
    row.last_name,
    row.email,
  ]);
  if (row.email !== null && row.type !== 'parent') {
    await pool.query(`INSERT INTO mails (kind, recipient) VALUES ('account_created', $1)`, [row.email]);
  }
  if (row.parent) await provision({ ...row.parent, type: 'parent' });
  return { status: 'ok', id: rows[0]!.id };
}

async function invite(users: Row[], key: string): Promise<string> {
  const { rows } = await pool.query<{ body: string }>('SELECT body FROM answers WHERE key = $1', [key]);
  if (rows[0]) return rows[0].body;
  const results: object[] = [];
  for (const [index, row] of users.entries()) {
    const { type, email } = row;
    results.push({ index, type, email, ...(await provision(row)) });
  }
  const body = JSON.stringify({ results });
  await pool.query('INSERT INTO answers (key, body) VALUES ($1, $2)', [key, body]);
  return body;
}

async function bodyOf(request: IncomingMessage): Promise<{ users: Row[] }> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part as string;
  return JSON.parse(text) as { users: Row[] };
}

const server = createServer((request, response) => {
  bodyOf(request)
    .then(({ users }) => invite(users, request.headers['idempotency-key'] as string))
    .then((body) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(body))
    .catch((error: unknown) => response.writeHead(500).end(String(error)));
});

server.listen(0, '127.0.0.1', () => process.send!({ listening: (server.address() as AddressInfo).port }));
