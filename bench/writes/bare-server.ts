/**
 * The minimum that can write: node:http and pg. Each request brings prepared statements, which run in one transaction of
 * the organization and in one round trip. No key, validation, look-ups, limits or log. The cost of a write is measured
 * against it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import pg from 'pg';

/** A prepared statement. */
export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/** The program's options, as JSON. */
export interface BareOptions {
  databaseUrl: string;
  poolSize: number;
  organizationId: string;
}

const { databaseUrl, poolSize, organizationId } = JSON.parse(process.argv[2]!) as BareOptions;
const settings = { connectionString: databaseUrl, max: poolSize, pipeline: true, keepAlive: true };
const pool = new pg.Pool(settings);
const SET_TENANT = {
  name: 'set_tenant',
  text: `SELECT set_config('app.organization_id', $1, true)`,
  values: [organizationId],
};

async function write(statements: Statement[]): Promise<void> {
  const client = await pool.connect();
  try {
    await Promise.all([
      client.query('BEGIN'),
      ...[SET_TENANT, ...statements].map((statement) => client.query(statement)),
      client.query('COMMIT'),
    ]);
  } finally {
    client.release();
  }
}

const server = createServer((request, response) => {
  json(request)
    .then((body) => write(body as Statement[]))
    .then(
      () => response.writeHead(201).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
});
server.listen(0, '127.0.0.1', () => process.send!({ listening: (server.address() as AddressInfo).port }));
