import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Factories } from './factories.js';

/** Every row of every table that has one of these texts. */
export async function rowsWith(make: Factories, ...texts: string[]): Promise<{ table: string; row: string }[]> {
  const tables = await make.query<{ name: string }>(`SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`);
  const found: { table: string; row: string }[] = [];
  for (const { name } of tables) {
    const rows = await make.query<{ row: string }>(
      `SELECT t::text AS row FROM ${name} t WHERE EXISTS (SELECT FROM unnest($1::text[]) w WHERE position(lower(w) IN lower(t::text)) > 0)`,
      [texts],
    );
    found.push(...rows.map(({ row }) => ({ table: name, row })));
  }
  return found;
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}

/** Every key of Redis, with what it holds. */
export async function everythingIn(redis: Redis): Promise<string> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const read: Record<string, () => Promise<unknown>> = {
      string: () => redis.get(key),
      hash: () => redis.hgetall(key),
      list: () => redis.lrange(key, 0, -1),
      set: () => redis.smembers(key),
      zset: () => redis.zrange(key, 0, -1),
      stream: () => redis.xrange(key, '-', '+'),
    };
    found.push(`${key} ${JSON.stringify(await read[await redis.type(key)]?.())}`);
  }
  return found.join('\n');
}
