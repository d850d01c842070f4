import { createHash } from 'node:crypto';
import pg from 'pg';
import type { BenchDatabase } from '../database.js';
import { say } from '../bench.js';
import { medianOf, ratioRow, row, type Target } from '../tables.js';
import { inTurns, type Plan } from './rounds.js';

const PLANS: Record<'quick' | 'full', Plan> = {
  quick: { warmUp: 50, rounds: 3, calls: 60 },
  full: { warmUp: 200, rounds: 7, calls: 200 },
};

/** A prepared statement. */
export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/** A write of the API, and the statements that write the same rows and do nothing else. */
export interface Compared {
  what: string;
  /** @returns milliseconds */
  ours: () => Promise<number>;
  bare: () => Statement[];
  target: Target;
}

/** Compares a write with its rows alone, in turns. */
export async function measureAgainstBare(database: BenchDatabase, quick: boolean, compared: Compared): Promise<void> {
  const settings = { connectionString: database.applicationUrl, pipeline: true, keepAlive: true };
  const client = new pg.Client(settings);
  // An interrupted run stops the server first.
  client.on('error', () => undefined);
  await client.connect();
  const write = async () => {
    const statements = compared.bare();
    const started = performance.now();
    await Promise.all([
      client.query('BEGIN'),
      client.query(`SELECT set_config('app.organization_id', $1, true)`, [database.organizationId]),
      ...statements.map((statement) => client.query(statement)),
      client.query('COMMIT'),
    ]);
    return performance.now() - started;
  };
  try {
    const plan = PLANS[quick ? 'quick' : 'full'];
    say(`\n${compared.what}: ${plan.rounds} rounds of ${plan.calls} calls, in turns\n`);
    const [ours, least] = await inTurns([compared.ours, write], plan);
    say(row('', ['p50 ms', 'p95 ms']));
    for (const [name, { p50, p95 }] of [
      ['this API', ours!],
      ['bare write of the rows (pg)', least!],
    ] as const) {
      say(row(name, [medianOf(p50).toFixed(2), medianOf(p95).toFixed(2)]));
    }
    say(`\n${row('this API against the bare write', ['ratio', 'rounds', 'target'])}`);
    say(ratioRow('  p50', ours!.p50, least!.p50, compared.target));
  } finally {
    await client.end();
  }
}

/** The id of a row that the benchmark's database was filled with. */
export function idOf(organizationId: string, name: string): string {
  const hash = createHash('md5')
    .update(organizationId + name)
    .digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
