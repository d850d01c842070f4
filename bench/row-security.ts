import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiKeys } from '@app/access';
import { loadEnv } from '@app/config';
import { connect, Database } from '@app/database';
import { ApiModule } from '../apps/api/src/api.module.js';
import { configureApp, createAdapter } from '../apps/api/src/configure-app.js';
import { buildDocument } from '../apps/api/src/http/openapi/document.js';
import { sizeOf } from '../apps/cli/src/demo/demo.js';
import { loadDemo } from '../apps/cli/src/load-demo.js';
import { rulesOn } from '../apps/cli/src/rules.js';
import { type Bench, say } from './bench.js';
import { asAdmin, type BenchDatabase } from './database.js';
import { atMost, judged, medianOf, ratioOf, row } from './tables.js';

/** The API's role with BYPASSRLS, to measure pages without row-level security. */
const FREE_ROLE = 'bench_bypassrls';
const MOST_RATIO = atMost(1.3);
const MOST_COUNTED = atMost(1.5);
/** Reads per round. The fastest one counts, because other load on the machine can only add to it. */
const READS = { smoke: 1, quick: 10, full: 10 };
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/;

type Row = Record<string, unknown>;

/** A query for a record of an organization ($1), for path parameters whose list's middle row would not do. */
const RECORDS: Record<string, string> = {
  post_id: 'SELECT id FROM blog_posts WHERE organization_id = $1 LIMIT 1',
  tutor_id: 'SELECT tutor_id AS id FROM session_feedback WHERE organization_id = $1 AND is_public LIMIT 1',
  group_id: 'SELECT id FROM student_groups WHERE organization_id = $1 LIMIT 1',
  parent_id: 'SELECT user_id AS id FROM parents WHERE organization_id = $1 AND enrolled_at IS NOT NULL LIMIT 1',
  session_id: 'SELECT id FROM sessions WHERE organization_id = $1 LIMIT 1',
};

/** The statements of one request. */
interface Captured {
  name: string;
  counted: boolean;
  read: Parameters<Database['read']>;
}

/** Compares statements with and without row-level security, and counted lists with and without totals. */
export async function measureRowSecurity({ length, students, database }: Bench): Promise<void> {
  say(`\nReads of a demo with ${students} students: fastest of ${READS[length]}, median of rounds (ms)`);
  const captured = await capture(database, await loadDemoInto(database, students));
  const held = await open(database.applicationUrl);
  const free = await open(await createFreeRole(database));
  const plan = { rounds: { smoke: 1, quick: 8, full: 24 }[length], reads: READS[length] };
  try {
    say(row('', ['RLS', 'without', 'ratio', 'target', '']));
    for (const { name, read } of captured) {
      const turns = await inTurns(plan, [held.db, read], [free.db, read]);
      say(compared(name, turns, MOST_RATIO));
    }
    say(row('', ['counted', 'uncounted', 'ratio', 'target', '']));
    for (const { name, read } of captured.filter(({ counted }) => counted)) {
      const uncounted: Captured['read'] = [read[0], read[1]!];
      const turns = await inTurns(plan, [held.db, read], [held.db, uncounted]);
      say(compared(name, turns, MOST_COUNTED));
    }
  } finally {
    await Promise.all([held.close(), free.close()]);
  }
}

/** Whether the operation cannot be called without a query. @param shared the parameters that operations refer to by name */
function needsQuery({ parameters = [] }: { parameters?: object[] }, shared: Record<string, object>): boolean {
  const whole = parameters.map((it) => ('$ref' in it ? (shared[String(it.$ref).split('/').at(-1)!] ?? it) : it));
  return whole.some((it) => 'in' in it && it.in === 'query' && 'required' in it && it.required === true);
}

/** The largest page of the operation. */
function mostOf({ parameters = [] }: { parameters?: object[] }): number {
  const own = parameters.find((it) => 'name' in it && it.name === 'limit') as
    { schema?: { maximum?: number } } | undefined;
  return own?.schema?.maximum ?? 100;
}

function compared(name: string, [ours, theirs]: [number[], number[]], target: typeof MOST_RATIO): string {
  const ratio = ratioOf(ours, theirs).median;
  const times = [ours, theirs].map((values) => medianOf(values).toFixed(2));
  return row(name, [...times, `${ratio.toFixed(2)}x`, ...judged(ratio, target)]);
}

type Side = [Database, Captured['read']];

type Plan = Record<'rounds' | 'reads', number>;

async function inTurns({ rounds, reads }: Plan, one: Side, other: Side): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []];
  // The first round prepares the statements.
  for (let round = 0; round <= rounds; round++) {
    for (const side of round % 2 ? [0, 1] : [1, 0]) {
      const time = await fastest(reads, ...(side === 0 ? one : other));
      if (round > 0) times[side]!.push(time);
    }
  }
  return times;
}

async function fastest(reads: number, db: Database, read: Captured['read']): Promise<number> {
  let best = Infinity;
  for (let turn = 0; turn < reads; turn++) {
    const start = performance.now();
    await db.read(...read);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

async function open(url: string): Promise<{ db: Database; close: () => Promise<void> }> {
  const dataSource = await connect({ url, poolSize: 1, applicationName: 'tutoring bench' });
  return { db: new Database(dataSource), close: () => dataSource.destroy() };
}

/** The statements of every list (first page, by cursor, with each filter) and of single records. */
async function capture(database: BenchDatabase, { id, key }: { id: string; key: string }): Promise<Captured[]> {
  const { encryptionKey, applicationUrl, adminUrl } = database;
  const settings = { DATABASE_URL: applicationUrl, ENCRYPTION_KEY: encryptionKey, LOG_LEVEL: 'silent' };
  const env = loadEnv({ ...settings, RATE_LIMIT_PER_MINUTE: '1000000' }, {});
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.forRoot(env), createAdapter(), {
    bodyParser: false,
    logger: false,
  });
  configureApp(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const captured: Captured[] = [];
  const examples = new Map<string, Row>();
  let reads: Captured['read'][] = [];
  const db = app.get(Database);
  const read = db.read.bind(db);
  db.read = (...args: Captured['read']) => {
    const [tenant, ...statements] = args;
    // Without the request's deadline, which has passed by the time the read is repeated.
    reads.push([{ ...tenant, deadline: undefined }, ...statements]);
    return read(...args) as never;
  };
  const get = async (path: string): Promise<Row[]> => {
    reads = [];
    const headers = { authorization: `Token token=${key}` };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    const text = await response.text();
    const [last] = reads;
    if (response.status !== 200 || !last) throw new Error(`GET ${path}: ${response.status} ${text}`);
    const { data, meta } = JSON.parse(text) as { data?: Row[]; meta?: { total?: number } };
    const name = path.slice('/v1/'.length).replace('limit=100', '').replace('?&', '?').replace(/\?$/, '');
    captured.push({ name: name.replace(UUID, '…'), counted: meta?.total !== undefined, read: last });
    return data ?? [];
  };
  try {
    const document = buildDocument(app, []);
    for (const [path, { get: operation }] of Object.entries(document.paths)) {
      // Shared parameters are references that end with their names.
      const names = (operation?.parameters ?? []).map((it) => ('$ref' in it ? it.$ref.split('/').at(-1)! : it.name));
      const [parameter, ...more] = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name!);
      // What takes more than the key's `read` is administration, of which the demo has none.
      const { 'x-required-scopes': scopes = [] } = (operation ?? {}) as { 'x-required-scopes'?: string[] };
      if (!operation || scopes.some((it) => it !== 'read')) continue;
      const readable = '200' in operation.responses && !needsQuery(operation, document.components?.parameters ?? {});
      if (parameter && readable && more.length === 0) {
        const table = path.split('/')[2]!.replaceAll('-', '_');
        const query = RECORDS[parameter] ?? `SELECT id FROM ${table} WHERE organization_id = $1 LIMIT 1`;
        const example = RECORDS[parameter] ? undefined : examples.get(path.slice(0, path.indexOf('/{')));
        const record =
          example ?? ((await asAdmin(adminUrl, (admin) => admin.query(query, [id]))).rows[0] as Row | undefined);
        if (record?.id === undefined) throw new Error(`The demo has no record for ${path}: add a query to RECORDS`);
        await get(
          `${path.replace(`{${parameter}}`, record.id as string)}${names.includes('limit') ? `?limit=${mostOf(operation)}` : ''}`,
        );
      }
      if (parameter || !names.includes('limit')) continue;
      const rows = await get(`${path}?limit=100`);
      // The feed's cursor has words of its own, and is a parameter of its own.
      const first = path === '/v1/events' ? 'oldest' : 'start';
      if (names.includes('cursor')) await get(`${path}?limit=100&cursor=${first}`);
      const example = rows[Math.floor(rows.length / 2)] ?? {};
      examples.set(path, example);
      for (const name of names.filter((each) => example[each] !== undefined && example[each] !== null)) {
        await get(`${path}?limit=100&${name}=${encodeURIComponent(String(example[name]))}`);
      }
    }
  } finally {
    await app.close();
  }
  if (!captured.some(({ counted }) => counted)) throw new Error('The OpenAPI document shows no counted list');
  return captured;
}

/** @returns the demo's larger organization and its key with the scope `read` */
async function loadDemoInto({ ownerUrl, portalUrl, encryptionKey, adminUrl }: BenchDatabase, students: number) {
  const urls = { MIGRATION_DATABASE_URL: ownerUrl, PORTAL_DATABASE_URL: portalUrl };
  const env = loadEnv({ ...urls, ENCRYPTION_KEY: encryptionKey }, {});
  const { db, close } = await open(ownerUrl);
  const folder = await mkdtemp(join(tmpdir(), 'tutoring-bench-demo-'));
  try {
    const rules = await rulesOn(db, env);
    const options = { folder, size: sizeOf(String(students)), seed: 1 };
    const [largest] = await loadDemo({ env, rules }, options);
    await asAdmin(adminUrl, async (admin) => {
      // Nothing else makes events of what the demo wrote: no worker runs here.
      while ((await admin.query<{ made: string }>('SELECT made FROM number_events()')).rows[0]!.made !== '0');
      // Nobody has asked for one, and each record is read.
      await admin.query(
        `INSERT INTO exports (id, organization_id, status, ended_at) VALUES (gen_random_uuid(), $1, 'expired', now())`,
        [largest!.id],
      );
      await admin.query('VACUUM ANALYZE');
    });
    return { id: largest!.id, key: (await rules.get(ApiKeys).create(largest!.id, { name: 'bench' })).key };
  } finally {
    await close();
    await rm(folder, { recursive: true });
  }
}

async function createFreeRole({ adminUrl, applicationUrl }: BenchDatabase): Promise<string> {
  const application = decodeURIComponent(new URL(applicationUrl).username);
  const password = randomBytes(16).toString('hex');
  await asAdmin(adminUrl, (admin) =>
    admin.query(
      `CREATE ROLE ${FREE_ROLE} LOGIN BYPASSRLS PASSWORD '${password}'; GRANT ${application} TO ${FREE_ROLE}`,
    ),
  );
  return Object.assign(new URL(adminUrl), { username: FREE_ROLE, password }).href;
}
