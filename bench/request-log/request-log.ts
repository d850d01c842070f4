import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Bench, type Length, say, type Server } from '../bench.js';
import type { Child } from '../children.js';
import { asAdmin } from '../database.js';
import { pages } from '../pages.js';
import { check, CONNECTIONS } from '../reads.js';
import { atMost, judged, medianOf, ratioOf, row } from '../tables.js';
import { postgresCpu } from './postgres-cpu.js';

const MOST_OF_A_READ = atMost(1.03);
interface Plan {
  pairs: number;
  seconds: number;
  amount?: number;
}

const PLANS: Record<Length, Plan> = {
  smoke: { pairs: 1, seconds: 0, amount: 20 },
  quick: { pairs: 6, seconds: 2 },
  full: { pairs: 14, seconds: 2 },
};
/** How long it takes until a round's rows are written (ms): one flush per second, plus its duration. */
const REST_MS = 1_500;
const LOGS_NAME = 'tutoring api request log';

/** CPU microseconds per request. */
interface Cost {
  api: number;
  /** PostgreSQL's processes except the connection that writes the log. */
  postgres: number;
  log: number;
}

/**
 * Measures what the request log adds to a read, in one API process that switches the log on and off in turns. A round
 * includes the time until its rows are written.
 */
export async function measureRequestLog(bench: Bench): Promise<void> {
  const [page] = await pages(bench.database);
  const server = await bench.serveApi({}, [new URL('./switch.js', import.meta.url).href]);
  const generator = bench.start('./load.js', { measured: false });
  const { pairs, seconds, amount } = PLANS[bench.length];
  say(`\nRequest log, ${page.name}: ${pairs} pairs of ${seconds} s with and without it, ${CONNECTIONS} connections`);
  await asAdmin(bench.database.adminUrl, async (admin) => {
    const run = (on: boolean) => measure(admin, generator, server, page.path, { on, seconds, amount });
    for (const on of bench.length === 'smoke' ? [] : [true, false, true, false]) await run(on);
    const [on, off]: [Cost[], Cost[]] = [[], []];
    for (let pair = 0; pair < pairs; pair++) {
      for (const turn of pair % 2 ? [true, false] : [false, true]) (turn ? on : off).push(await run(turn));
    }
    say(report(on, off));
  });
}

async function measure(
  admin: pg.Client,
  generator: Child,
  { child, url, key }: Server,
  path: string,
  { on, ...plan }: { on: boolean; seconds: number; amount?: number },
): Promise<Cost> {
  child.send({ requestLog: on });
  const usage = async () => ({ api: (await child.usage()).cpuSeconds, ...(await postgresCpu(admin, LOGS_NAME)) });
  const before = await usage();
  const answered = await generator.load({ url: url + path, key, connections: CONNECTIONS, ...plan });
  check(child.module, path, answered);
  await sleep(REST_MS);
  const after = await usage();
  const each = (what: keyof typeof after) => ((after[what] - before[what]) * 1e6) / answered.requests;
  return { api: each('api'), postgres: each('others'), log: each('log') };
}

function report(on: Cost[], off: Cost[]): string {
  const line = (name: string, of: (cost: Cost) => number, target?: typeof MOST_OF_A_READ) => {
    const [ours, theirs] = [on.map(of), off.map(of)];
    const { median, lowest, highest } = ratioOf(ours, theirs);
    return row(name, [
      medianOf(ours).toFixed(1),
      medianOf(theirs).toFixed(1),
      `${median.toFixed(3)}x`,
      `${lowest.toFixed(2)}-${highest.toFixed(2)}`,
      ...judged(median, target),
    ]);
  };
  return [
    row('CPU µs/request', ['with', 'without', 'ratio', 'pairs', 'target']),
    line('API process', ({ api }) => api, MOST_OF_A_READ),
    line('PostgreSQL', ({ postgres, log }) => postgres + log),
    row('  of it the log’s connection', [medianOf(on.map(({ log }) => log)).toFixed(1)]),
    line('both', ({ api, postgres, log }) => api + postgres + log),
  ].join('\n');
}
