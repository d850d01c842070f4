import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Bench, type Length, POOL_SIZE, say, type Server } from './bench.js';
import type { Child } from './children.js';
import type { LoadResult } from './load.js';
import type { LimitOptions } from './limit/answer.js';
import { type Page, pages } from './pages.js';
import { brief, BRIEF_HEADING, fullReport, type Round, type Rounds } from './report.js';

export const CONNECTIONS = 16;

/** Seconds of warm-up, number of rounds, and seconds per round, or how many requests instead. */
interface Plan {
  warmUp: number;
  rounds: number;
  seconds: number;
  amount?: number;
  connections?: number;
}

/** With few connections, because a busy machine refuses what waits too long. */
const ONCE: Plan = { warmUp: 0, rounds: 1, seconds: 0, amount: 4, connections: 2 };

/** The page with targets gets more than the others. */
const PLANS: Record<Length, { main: Plan; others: Plan }> = {
  smoke: { main: ONCE, others: ONCE },
  quick: { main: { warmUp: 2, rounds: 3, seconds: 2 }, others: { warmUp: 1, rounds: 1, seconds: 1 } },
  full: { main: { warmUp: 5, rounds: 7, seconds: 5 }, others: { warmUp: 2, rounds: 3, seconds: 3 } },
};

export function plansOf({ length }: Bench): { main: Plan; others: Plan } {
  return PLANS[length];
}

/** Compares pages of this API with the other servers. */
export async function measureReads(bench: Bench): Promise<void> {
  const { database } = bench;
  const plans = plansOf(bench);
  const [page, ...others] = await pages(database);
  const api = await bench.serveApi();
  const told = await tell(bench, api, [page, ...others]);
  const limit = await bench.serve('./limit/main.js', [told]);
  const frame = await bench.serve('./frame/main.js', [told]);
  const textbook = await bench.serve('./textbook/main.js', [database.adminUrl, String(POOL_SIZE)]);
  await compare(page, api, limit, textbook);
  await compare(page, api, frame);
  for (const other of others) await compare(other, api, limit);

  const load = bench.start('./load.js', { measured: false });
  const measure = (at: Server[], what: Page, plan: Plan) => inTurns(load, at, [what], plan);
  const { rounds, seconds } = plans.main;
  say(`${page.name}, 20 rows: ${rounds} rounds of ${seconds} s each, ${CONNECTIONS} connections\n`);
  const [ours, least, bare, usual] = await measure([api, limit, frame, textbook], page, plans.main);
  const rss = {
    'this API': await megabytes(api),
    'bench/limit': await megabytes(limit),
    'bench/frame': await megabytes(frame),
    'bench/textbook': await megabytes(textbook),
  };
  say(fullReport({ api: ours!, limit: least!, frame: bare!, textbook: usual! }, rss));
  say(`\nOther answers: ${plans.others.rounds} rounds of ${plans.others.seconds} s\n\n${BRIEF_HEADING('the limit')}`);
  for (const other of others) {
    const [its, itsLeast] = await measure([api, limit], other, plans.others);
    say(brief(other.name, its!, itsLeast!));
  }
}

/** Headers that Node sends by itself, or that depend on the body. */
const NODES_OWN = new Set(['connection', 'content-length', 'date', 'keep-alive']);

/** Writes the bare servers' responses to a file. @returns the file */
async function tell(bench: Bench, api: Server, wanted: Page[]): Promise<string> {
  const { applicationUrl, folder } = bench.database;
  const answered = wanted.map(async (page) => {
    const { body, headers } = await get(api, page);
    const { meta } = JSON.parse(body) as { meta?: object };
    return {
      ...page,
      meta: JSON.stringify(meta ?? null),
      headers: [...headers].filter(([name]) => !NODES_OWN.has(name)),
    };
  });
  const options: LimitOptions = {
    databaseUrl: applicationUrl,
    poolSize: POOL_SIZE,
    pages: await Promise.all(answered),
  };
  const file = join(folder, 'limit.json');
  writeFileSync(file, JSON.stringify(options));
  return file;
}

/** The bare server must send the same bytes as the API, and the textbook server the same records. */
async function compare(page: Page, api: Server, limit: Server, textbook?: Server): Promise<void> {
  const { body } = await get(api, page);
  if (body !== (await get(limit, page)).body) throw new Error(`The limit's answer differs: ${page.name}`);
  if (!textbook || isDeepStrictEqual(JSON.parse(body), JSON.parse((await get(textbook, page)).body))) return;
  throw new Error(`The textbook's answer differs: ${page.name}`);
}

async function get({ url, key }: Server, page: Page): Promise<{ body: string; headers: Headers }> {
  const response = await fetch(url + page.path, { headers: { Authorization: `Token token=${key}` } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${page.path} answered ${response.status}: ${body}`);
  return { body, headers: response.headers };
}

/**
 * Alternates between the servers (A, B, C, A, B, C …), so that other load on the machine affects all of them.
 *
 * @param asked a page for each server; the last one serves the remaining servers
 */
export async function inTurns(load: Child, servers: Server[], asked: Page[], plan: Plan): Promise<Rounds[]> {
  const { connections = CONNECTIONS, amount } = plan;
  const run = (index: number, seconds: number) => {
    const { url, key } = servers[index]!;
    const { path } = asked[index] ?? asked.at(-1)!;
    return load.load({ url: url + path, key, connections, seconds, amount });
  };
  for (const index of servers.keys()) await run(index, plan.warmUp);
  const rounds: Rounds[] = servers.map(() => []);
  for (let round = 0; round < plan.rounds; round++) {
    for (const [index, server] of servers.entries()) {
      const before = await server.child.usage();
      const answered = await run(index, plan.seconds);
      const after = await server.child.usage();
      check(server.child.module, asked[0]!.name, answered);
      const cpu = ((after.cpuSeconds - before.cpuSeconds) * 1000) / answered.requests;
      const { requestsPerSecond, p50, p99 } = answered;
      rounds[index]!.push({ requestsPerSecond, p50, p99, cpu } satisfies Round);
    }
  }
  return rounds;
}

/** Figures of a round with failures, or without answers, mean nothing. */
export function check(server: string, page: string, { requests, failures }: LoadResult): void {
  const said = JSON.stringify(failures);
  if (requests === 0 || said !== '{}') throw new Error(`${server}: ${requests} answers to ${page}, failures: ${said}`);
}

async function megabytes({ child }: Server): Promise<number> {
  return (await child.usage()).rss / 2 ** 20;
}
