import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Env } from '@app/config';
import { connect, MOST_BEHIND } from '@app/database';

/** How often a replica is asked whether it has come as far (ms). */
const EVERY = 50;

/** What is wrong with the replicas that the API is to read from; empty if nothing is. */
export async function examineReplicas(env: Env): Promise<string[]> {
  const primary = await connect({ url: env.need('DATABASE_URL'), poolSize: 1, applicationName: 'tutoring doctor' });
  try {
    const found = env.get('DATABASE_REPLICA_URLS').map(async (url) => {
      const { host } = new URL(url);
      try {
        const fault = await faultOf(primary, url);
        return fault && `${host} ${fault}`;
      } catch (error) {
        return `${host}: ${(error as Error).message}`;
      }
    });
    return (await Promise.all(found)).filter((fault) => fault !== null);
  } finally {
    await primary.destroy();
  }
}

async function faultOf(primary: DataSource, url: string): Promise<string | null> {
  const replica = await connect({ url, poolSize: 1, applicationName: 'tutoring doctor' });
  try {
    const ask = async <Row>(text: string, values: unknown[] = []) => (await replica.query<[Row]>(text, values))[0];
    const { follows } = await ask<{ follows: boolean }>('SELECT pg_is_in_recovery() AS follows');
    if (!follows) return 'is no replica';
    const [{ position }] = await primary.query<[{ position: string }]>('SELECT pg_current_wal_lsn()::text AS position');
    const there = async () =>
      (await ask<{ there: boolean }>('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS there', [position])).there;
    for (const end = Date.now() + MOST_BEHIND; Date.now() < end;) {
      if (await there()) return null;
      await sleep(EVERY);
    }
    return 'is more than two seconds behind: the primary answers its reads';
  } finally {
    await replica.destroy();
  }
}
