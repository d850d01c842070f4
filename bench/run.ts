/**
 * `npm run bench`: this API against the least that could answer (limit/) and against what tutorials build (textbook/), on
 * the same data, in turns within one run. `-- --quick` takes less time and tells less. Timing never fails it; it fails
 * when it cannot measure: a server that does not start, answers that differ.
 */
import 'reflect-metadata';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { cpus } from 'node:os';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './children.js';
import { type BenchDatabase, HOMEWORK_ROWS, startDatabase } from './database.js';
import type { LimitOptions } from './limit/main.js';
import { type Page, pages } from './pages.js';
import { brief, BRIEF_HEADING, fullReport, type Round, type Rounds } from './report.js';

/** As `npm run start:prod` and `npm start` run the API. */
const PRODUCTION_FLAGS = ['--max-semi-space-size=8', '--max-old-space-size=256'];

const CONNECTIONS = 16;
const POOL_SIZE = 10;

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values;
/** Seconds of warm-up, rounds and their seconds; for the page with targets, and for the others. */
const MAIN = quick ? { warmUp: 2, rounds: 3, seconds: 2 } : { warmUp: 5, rounds: 7, seconds: 5 };
const OTHERS = quick ? { warmUp: 1, rounds: 1, seconds: 2 } : { warmUp: 2, rounds: 3, seconds: 3 };

interface Server {
  child: Child;
  url: string;
}

/** Everything that was started, to be ended in the reverse order. */
const started: { stop(): Promise<void> }[] = [];

async function main(): Promise<void> {
  say(`Preparing PostgreSQL with ${HOMEWORK_ROWS} rows of homework in each of two organizations`);
  const preparing = startDatabase();
  started.push({ stop: async () => (await preparing).stop() });
  const database = await preparing;
  const [page, ...others] = await pages(database);
  const api = await serve('../apps/api/src/main.js', database, [], {
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: database.applicationUrl,
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    ENCRYPTION_KEY: database.encryptionKey,
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOG_LEVEL: 'info',
  });
  const limit = await startLimit(database, api, [page, ...others]);
  const textbook = await serve('./textbook/main.js', database, [database.adminUrl, String(POOL_SIZE)]);
  await compare(database.key, page, api, limit, textbook);
  for (const other of others) await compare(database.key, other, api, limit);

  const load = new Child('./load.js', join(database.folder, 'load.log'), { measured: false });
  started.push(load);
  const measure = (at: Server[], what: Page, plan: typeof MAIN) => inTurns(load, database.key, at, what, plan);
  const [processor] = cpus();
  say(`Node ${process.version}, ${cpus().length} x ${processor?.model ?? 'unknown'}`);
  say(`${page.name}, 20 rows: ${MAIN.rounds} rounds of ${MAIN.seconds} s each, ${CONNECTIONS} connections\n`);
  const [ours, least, usual] = await measure([api, limit, textbook], page, MAIN);
  const rss = {
    'this API': await megabytes(api),
    'bench/limit': await megabytes(limit),
    'bench/textbook': await megabytes(textbook),
  };
  say(fullReport(ours!, least!, usual!, rss));
  say(`\nOther answers: ${OTHERS.rounds} rounds of ${OTHERS.seconds} s\n\n${BRIEF_HEADING}`);
  for (const other of others) {
    const [its, itsLeast] = await measure([api, limit], other, OTHERS);
    say(brief(other.name, its!, itsLeast!));
  }
}

async function serve(
  module: string,
  { folder }: BenchDatabase,
  args: string[],
  env: Record<string, string> = {},
): Promise<Server> {
  const log = join(folder, `${started.length}.log`);
  const child = new Child(module, log, { args, env, flags: module.includes('/api/') ? PRODUCTION_FLAGS : [] });
  started.push(child);
  return { child, url: await child.listening() };
}

/** Headers that Node sends by itself, or that depend on the body. */
const NODES_OWN = new Set(['connection', 'content-length', 'date', 'keep-alive']);

async function startLimit(database: BenchDatabase, api: Server, wanted: Page[]): Promise<Server> {
  const answered = wanted.map(async (page) => {
    const { body, headers } = await get(api, page, database.key);
    const { meta } = JSON.parse(body) as { meta?: object };
    return {
      ...page,
      meta: JSON.stringify(meta ?? null),
      headers: [...headers].filter(([name]) => !NODES_OWN.has(name)),
    };
  });
  const options: LimitOptions = {
    databaseUrl: database.applicationUrl,
    poolSize: POOL_SIZE,
    pages: await Promise.all(answered),
  };
  const file = join(database.folder, 'limit.json');
  writeFileSync(file, JSON.stringify(options));
  return serve('./limit/main.js', database, [file]);
}

/** The limit must send the API's bytes, the textbook the same records. */
async function compare(key: string, page: Page, api: Server, limit: Server, textbook?: Server): Promise<void> {
  const { body } = await get(api, page, key);
  if (body !== (await get(limit, page, key)).body) throw new Error(`The limit's answer differs: ${page.name}`);
  if (!textbook || isDeepStrictEqual(JSON.parse(body), JSON.parse((await get(textbook, page, key)).body))) return;
  throw new Error(`The textbook's answer differs: ${page.name}`);
}

async function get({ url }: Server, page: Page, key: string): Promise<{ body: string; headers: Headers }> {
  const response = await fetch(url + page.path, { headers: { Authorization: `Token token=${key}` } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${page.path} answered ${response.status}: ${body}`);
  return { body, headers: response.headers };
}

/** A, B, C, A, B, C …: whatever else the machine does falls on all of them. */
async function inTurns(load: Child, key: string, servers: Server[], page: Page, plan: typeof MAIN): Promise<Rounds[]> {
  const run = ({ url }: Server, seconds: number) =>
    load.load({ url: url + page.path, key, connections: CONNECTIONS, seconds });
  for (const server of servers) await run(server, plan.warmUp);
  const rounds: Rounds[] = servers.map(() => []);
  for (let round = 0; round < plan.rounds; round++) {
    for (const [index, server] of servers.entries()) {
      const before = await server.child.usage();
      const { requests, requestsPerSecond, p50, p99, failures } = await run(server, plan.seconds);
      const after = await server.child.usage();
      if (failures > 0) throw new Error(`${server.child.module}: ${failures} requests of ${page.name} failed`);
      const cpu = ((after.cpuSeconds - before.cpuSeconds) * 1000) / requests;
      rounds[index]!.push({ requestsPerSecond, p50, p99, cpu } satisfies Round);
    }
  }
  return rounds;
}

async function megabytes({ child }: Server): Promise<number> {
  return (await child.usage()).rss / 2 ** 20;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Rejects when the run is to end early: what was started still has to be ended. */
const interrupted = new Promise<never>((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      reject(new Error(signal));
    });
});

try {
  await Promise.race([main(), interrupted]);
} catch (error) {
  say(`The bench could not measure: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  for (const one of started.reverse()) await one.stop();
  // An interrupted run may be in the middle of something.
  process.exit();
}
