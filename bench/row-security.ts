import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiKeys, Invites, Organizations } from '@app/accounts';
import { loadEnv, Vault } from '@app/config';
import { connect, Database } from '@app/database';
import { ApiModule } from '../apps/api/src/api.module.js';
import { configureApp, createAdapter } from '../apps/api/src/configure-app.js';
import { buildDocument } from '../apps/api/src/http/openapi/document.js';
import { sizeOf } from '../apps/cli/src/demo/demo.js';
import { loadDemo } from '../apps/cli/src/load-demo.js';
import { type Bench, say } from './bench.js';
import { asAdmin, type BenchDatabase } from './database.js';
import { atMost, medianOf, ratioOf, row, judged } from './tables.js';

/** The application's role but for BYPASSRLS: what a page costs without row-level security. */
const FREE_ROLE = 'bench_bypassrls';

const MOST_RATIO = atMost(1.3);
const MOST_COUNTED = atMost(1.5);
const REQUESTS = 10;

/** One API in this process, and how long its last read was in the database (ms). */
interface MeasuredApi {
  url: string;
  paths: string[];
  inDatabase: number;
  close(): Promise<void>;
}

/** Pages of 100 with and without row-level security, and with and without a total, by their time in the database. */
export async function measureRowSecurity({ quick, database, students }: Bench): Promise<void> {
  say(`\nPages of 100 of a demo with ${students} students: time of the read in the database (ms)`);
  const key = await loadDemoInto(database, students);
  const url = await createFreeRole(database);
  const held = await startApi(database, database.applicationUrl);
  const free = await startApi(database, url);
  const rounds = quick ? 8 : 24;
  try {
    say(row('', ['RLS', 'without', 'ratio', 'target', '']));
    for (const path of held.paths) {
      const [ours, theirs] = await inTurns(
        rounds,
        () => timed(held, path, key),
        () => timed(free, path, key),
      );
      const ratio = ratioOf(ours, theirs).median;
      say(row(path, [ms(ours), ms(theirs), `${ratio.toFixed(2)}x`, ...judged(ratio, MOST_RATIO)]));
    }
    say(row('', ['counted', 'uncounted', 'ratio', 'target', '']));
    for (const path of held.paths) {
      if (!(await get(held, path, key)).includes('"total":')) continue;
      const uncounted = `${path}&cursor=start`;
      const [ours, theirs] = await inTurns(
        rounds,
        () => timed(held, path, key),
        () => timed(held, uncounted, key),
      );
      const ratio = ratioOf(ours, theirs).median;
      say(row(path, [ms(ours), ms(theirs), `${ratio.toFixed(2)}x`, ...judged(ratio, MOST_COUNTED)]));
    }
  } finally {
    await Promise.all([held.close(), free.close()]);
  }
}

const ms = (values: number[]): string => medianOf(values).toFixed(2);

async function inTurns(rounds: number, one: () => Promise<number>, other: () => Promise<number>) {
  const [ours, theirs]: [number[], number[]] = [[], []];
  // The first round prepares the statements.
  for (let round = 0; round <= rounds; round++) {
    const [first, second] = round % 2 ? [await one(), await other()] : [await other(), await one()].reverse();
    if (round === 0) continue;
    ours.push(first!);
    theirs.push(second!);
  }
  return [ours, theirs] as const;
}

/** The fastest of some requests, in milliseconds in the database: what else the machine does only adds to it. */
async function timed(api: MeasuredApi, path: string, key: string): Promise<number> {
  let fastest = Infinity;
  for (let request = 0; request < REQUESTS; request++) {
    await get(api, path, key);
    fastest = Math.min(fastest, api.inDatabase);
  }
  return fastest;
}

async function get(api: MeasuredApi, path: string, key: string): Promise<string> {
  const response = await fetch(api.url + path, { headers: { authorization: `Token token=${key}` } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${body}`);
  return body;
}

/** In this process, so that the time between a read and its answer can be taken where the API waits for it. */
async function startApi({ encryptionKey }: BenchDatabase, url: string): Promise<MeasuredApi> {
  const settings = { DATABASE_URL: url, ENCRYPTION_KEY: encryptionKey, LOG_LEVEL: 'silent' };
  const env = loadEnv({ ...settings, RATE_LIMIT_PER_MINUTE: '1000000' }, {});
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.forRoot(env), createAdapter(), {
    bodyParser: false,
    logger: false,
  });
  configureApp(app);
  await app.listen(0, '127.0.0.1');
  const paths = Object.entries(buildDocument(app).paths)
    .filter(([path, { get: list }]) => !path.includes('{') && JSON.stringify(list ?? {}).includes('"name":"limit"'))
    .map(([path]) => `${path}?limit=100`);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const api: MeasuredApi = { url: `http://127.0.0.1:${port}`, paths, inDatabase: 0, close: () => app.close() };
  const db = app.get(Database);
  const read = db.read.bind(db);
  db.read = async (...args: Parameters<Database['read']>) => {
    const start = performance.now();
    try {
      return await read(...args);
    } finally {
      api.inDatabase = performance.now() - start;
    }
  };
  return api;
}

/** @returns a reading key of the demo's larger organization */
async function loadDemoInto({ applicationUrl, encryptionKey, adminUrl }: BenchDatabase, students: number) {
  const env = loadEnv({ DATABASE_URL: applicationUrl, ENCRYPTION_KEY: encryptionKey }, {});
  const dataSource = await connect({ url: applicationUrl, poolSize: 2, applicationName: 'tutoring bench' });
  const folder = await mkdtemp(join(tmpdir(), 'tutoring-bench-demo-'));
  try {
    const db = new Database(dataSource);
    const organizations = new Organizations(db, new Invites(db, env, new Vault(env)));
    const keys = new ApiKeys(db, env);
    const organizationId = () => Promise.reject(new Error('unused'));
    const size = sizeOf(String(students));
    const options = { folder, size, seed: 1, onProgress: () => undefined };
    const [largest] = await loadDemo({ env, db, keys, organizations, organizationId }, options);
    await asAdmin(adminUrl, (admin) => admin.query('VACUUM ANALYZE'));
    return (await keys.create(largest!.id, { name: 'bench' })).key;
  } finally {
    await dataSource.destroy();
    await rm(folder, { recursive: true });
  }
}

async function createFreeRole({ adminUrl, applicationUrl }: BenchDatabase): Promise<string> {
  const application = decodeURIComponent(new URL(applicationUrl).username);
  await asAdmin(adminUrl, (admin) =>
    admin.query(`CREATE ROLE ${FREE_ROLE} LOGIN BYPASSRLS; GRANT ${application} TO ${FREE_ROLE}`),
  );
  return Object.assign(new URL(adminUrl), { username: FREE_ROLE }).href;
}
