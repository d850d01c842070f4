import pg from 'pg';
import { FUNCTION_GRANTS } from '@app/database';
import type { TestDatabase } from './database.js';

/** A call of a function by one of the processes that may. */
export interface Call {
  role: keyof TestDatabase['processUrls'];
  text: string;
}

/** What a call reads of all tables, and the rows that it writes or returns. */
export interface Reads {
  read: number;
  shown: number;
}

const SO_FAR = `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read, sum(n_tup_ins + n_tup_upd + n_tup_del)::int AS written
  FROM pg_stat_xact_user_tables`;

/**
 * A call of each function that a process may call.
 *
 * @param values SQL for the first pattern that an argument, such as `login uuid`, matches
 */
export async function callsOf(database: TestDatabase, values: [argument: RegExp, value: string][]): Promise<Call[]> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string; args: string }>(
    `SELECT proname AS name, pg_get_function_identity_arguments(oid) AS args FROM pg_proc WHERE proname = ANY ($1) ORDER BY 1`,
    [Object.keys(FUNCTION_GRANTS).filter((name) => FUNCTION_GRANTS[name]!.length > 0)],
  );
  await client.end();
  return rows.map(({ name, args }) => {
    const given = args.split(', ').filter((arg) => arg !== '' && !arg.startsWith('OUT '));
    const sent = given.map((arg) => values.find(([pattern]) => pattern.test(`${name} ${arg}`))?.[1] ?? `no value for ${arg}`);
    return { role: FUNCTION_GRANTS[name]![0]!, text: `${name}(${sent.join(', ')})` };
  });
}

/** Makes a call in a transaction of the organization, with plans as a long session has them, and undoes it. */
export async function readsOf(database: TestDatabase, organizationId: string, { role, text }: Call): Promise<Reads> {
  const client = new pg.Client({ connectionString: database.processUrls[role] });
  await client.connect();
  try {
    await client.query('SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; BEGIN');
    await client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
    await client.query('SAVEPOINT call');
    // What a function refuses, it has read as well.
    const returned = await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${text}`).catch(async (error: Error) => {
      await client.query('ROLLBACK TO call');
      if (/no value for|does not exist|permission denied for function/.test(error.message)) throw error;
      return { rows: [{ n: 0 }] };
    });
    const { read, written } = (await client.query<{ read: number; written: number }>(SO_FAR)).rows[0]!;
    return { read, shown: written + returned.rows[0]!.n };
  } finally {
    await client.end();
  }
}
