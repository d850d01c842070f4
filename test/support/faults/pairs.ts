import { setTimeout as sleep } from 'node:timers/promises';
import { isUpload, operationOf, recordFor, type ValidWrite, writesOf } from '../http/record-for.js';
import type { Route } from '../http/routes.js';
import type { TenancySweep } from '../http/tenancy-sweep.js';
import { bodiesOf } from '../http/valid-bodies.js';
import { pathOf } from '../data/fixtures.js';

/** How many requests are under way at once: half of them the one, half the other of a pair. */
const AT_ONCE = 10;

/** What a write may answer when another one has been quicker. */
const ANSWERS = [200, 201, 204, 404, 409, 422];

export type Pair = [Route, Route];

/** Every pair of writes, each with itself too. Uploads touch no record of others. */
export function pairsOf(sweep: TenancySweep): Pair[] {
  const writes = writesOf(sweep.api).filter((route) => !isUpload(route));
  return writes.flatMap((one, index) => writes.slice(index).map((other): Pair => [one, other]));
}

export interface Raced {
  pairs: number;
  deadlocks: number;
  statuses: Record<number, number>;
  /** Pairs with a deadlock or another answer than {@link ANSWERS}. */
  wrong: string[];
}

/** Sends each pair that names a record in common, all at once; every other of each with `If-Match`, which locks the record first. */
export async function race(sweep: TenancySweep, pairs: readonly Pair[], until = Infinity): Promise<Raced> {
  const {
    fixtures: { make, a: school },
  } = sweep;
  const raced: Raced = { pairs: 0, deadlocks: 0, statuses: {}, wrong: [] };
  const first = await deadlocks(sweep);
  let before = first;
  for (const pair of pairs) {
    if (Date.now() > until) break;
    const ids = { ...(await recordFor(pair[1], make, school)), ...(await recordFor(pair[0], make, school)) };
    const writes = pair.map((route): ValidWrite => {
      const path = pathOf(route, { ...school, path: ids });
      return { operation: operationOf(route), route, ids, path, body: bodiesOf(route, ids)[0] };
    });
    const named = writes.map((write) => new Set<string>(`${write.path} ${JSON.stringify(write.body)}`.match(UUIDS) ?? []));
    if (![...named[0]!].some((id) => named[1]!.has(id))) continue;
    const sent = Array.from({ length: AT_ONCE }, (_, index) => sweep.write(writes[index % 2]!, school, index % 4 < 2 ? {} : { 'If-Match': '*' }));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    const after = await deadlocks(sweep);
    raced.pairs++;
    for (const status of statuses) raced.statuses[status] = (raced.statuses[status] ?? 0) + 1;
    const strange = statuses.filter((status) => !ANSWERS.includes(status));
    if (after > before || strange.length > 0)
      raced.wrong.push(`${pair.map(operationOf).join(' | ')}: ${after - before} deadlocks, ${strange.join(' ')}`);
    before = after;
  }
  await sleep(1_100);
  await Promise.all(Array.from({ length: 4 * AT_ONCE }, () => sweep.get('/v1/students', school)));
  raced.deadlocks = (await deadlocks(sweep)) - first;
  return raced;
}

const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Deadlocks of this database as PostgreSQL counts them: each session hands its own in after a second, when it is used again. */
async function deadlocks(sweep: TenancySweep): Promise<number> {
  const [row] = await sweep.fixtures.make.query<{ n: number }>(
    'SELECT deadlocks::integer AS n FROM pg_stat_database WHERE datname = current_database()',
  );
  return row!.n;
}
