import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Bench, type Length, POOL_SIZE, say, type Server } from '../bench.js';
import { asAdmin } from '../database.js';
import { medianOf, ratioRow, row, type Target } from '../tables.js';
import type { BareOptions, Statement } from './bare-server.js';
import { Client } from './client.js';
import { inTurns, type Plan } from './rounds.js';

const PLANS: Record<Length, Plan> = {
  smoke: { warmUp: 0, rounds: 1, calls: 2 },
  quick: { warmUp: 50, rounds: 3, calls: 60 },
  full: { warmUp: 200, rounds: 7, calls: 200 },
};

/** Bytes of a sealed answer: nonce, tag, and about 600 bytes of JSON. */
const ANSWER_BYTES = 630;

/** The rows that every write of the API adds. */
const OF_ANY_WRITE = {
  audit_log: `INSERT INTO audit_log (id, organization_id, api_key_id, operation, request_id, status, result, details, network)
    VALUES ($1, $2, $3, $4, $5, 201, 'done', $6, '127.0.0.1')`,
  idempotency_keys: `INSERT INTO idempotency_keys (organization_id, operation, key, request_hash, status, answer, expires_at)
    VALUES ($1, $2, $3, $4, 201, $5, now() + interval '24 hours')`,
} as const;

/** A write of the API, and the statements that write the same rows and do nothing else. */
export interface Compared {
  what: string;
  path: string;
  /** The body of a request. */
  body: () => object;
  /** Without the rows that every write adds. */
  bare: () => Statement[];
  /** The tables in which both add one row. */
  tables: string[];
  target: Target;
}

/** Compares a write with its rows alone, both over HTTP and from the same pools, in turns. */
export async function measureAgainstBare(bench: Bench, api: Server, compared: Compared): Promise<void> {
  const { database, length } = bench;
  const { applicationUrl: databaseUrl, organizationId, keyId } = database;
  const options: BareOptions = { databaseUrl, poolSize: POOL_SIZE, organizationId };
  const server = await bench.serve('./writes/bare-server.js', [JSON.stringify(options)]);
  const [client, bareClient] = [new Client(api.url, database.writingKey), new Client(server.url, '')];
  const ours = async () => {
    const body = Buffer.from(JSON.stringify(compared.body()));
    return (await client.send({ path: compared.path, idempotencyKey: uuidv7(), body }, 201)).milliseconds;
  };
  const least = async () => {
    const operation = `POST ${compared.path}`;
    const [hash, answer] = [randomBytes(32), randomBytes(ANSWER_BYTES)].map((bytes) => `\\x${bytes.toString('hex')}`);
    const more = {
      audit_log: [uuidv7(), organizationId, keyId, operation, uuidv7(), JSON.stringify({ id: uuidv7() })],
      idempotency_keys: [organizationId, operation, uuidv7(), hash, answer],
    };
    const added = Object.entries(OF_ANY_WRITE).map(([name, text]) => ({
      name,
      text,
      values: more[name as keyof typeof more],
    }));
    const body = Buffer.from(JSON.stringify([...compared.bare(), ...added]));
    return (await bareClient.send({ path: '/', body }, 201)).milliseconds;
  };
  try {
    await compareRows(database.adminUrl, [...compared.tables, ...Object.keys(OF_ANY_WRITE)], [ours, least]);
    const plan = PLANS[length];
    say(`\n${compared.what}: ${plan.rounds} rounds of ${plan.calls} calls, in turns\n`);
    const [times, bareTimes] = await inTurns([ours, least], plan);
    say(row('', ['p50 ms', 'p95 ms']));
    for (const [name, { p50, p95 }] of [
      ['this API', times!],
      ['bare write of the rows', bareTimes!],
    ] as const) {
      say(row(name, [medianOf(p50).toFixed(2), medianOf(p95).toFixed(2)]));
    }
    say(`\n${row('this API against the bare write', ['ratio', 'rounds', 'target'])}`);
    say(ratioRow('  p50', times!.p50, bareTimes!.p50, compared.target));
  } finally {
    client.close();
    bareClient.close();
    await server.child.stop();
  }
}

/** Checks that each way adds the same number of rows to the tables. @param expected how many; 1 if left out */
export async function compareRows(
  adminUrl: string,
  tables: string[],
  ways: (() => Promise<unknown>)[],
  expected = 1,
): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    const count = async () => {
      const counts = tables.map((table) => `(SELECT count(*) FROM ${table})::integer AS ${table}`);
      return (await admin.query<Record<string, number>>(`SELECT ${counts.join(', ')}`)).rows[0]!;
    };
    for (const [way, write] of ways.entries()) {
      const before = await count();
      await write();
      const after = await count();
      const added = tables.map((table) => after[table]! - before[table]!);
      if (added.some((rows) => rows !== expected))
        throw new Error(`Way ${way} added ${added.join()} rows to ${tables.join()}`);
    }
  });
}
