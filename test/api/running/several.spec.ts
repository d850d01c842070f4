import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { createTestDatabase } from '../../support/database/database.js';
import { OldPooler } from '../../support/database/old-pooler.js';
import { Presence } from '../../../libs/database/src/presence.js';
import { fixture, inTest } from '../../support/process/fixture.js';
import { TestRedis } from '../../support/worker/redis.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';

await buildOnce();
const database = await fixture(createTestDatabase());
const redis = await fixture(TestRedis.start());
const shared = { REDIS_URL: redis.url };

const api = async (settings = {}) => inTest(ApiProcess.start({ DATABASE_URL: database.applicationUrl, ...settings }));
const worker = async (settings = {}) =>
  inTest(WorkerProcess.start({ WORKER_DATABASE_URL: database.workerUrl, ENCRYPTION_KEY: '0'.repeat(64), ...settings }));
const portal = async () => inTest(ApiProcess.start({ PORTAL_DATABASE_URL: database.portalUrl }, [], 'portal'));

/** What a process says of others before it serves. */
async function said(starting: Promise<ApiProcess | WorkerProcess>): Promise<string[]> {
  const process = await starting;
  const text = () => ('output' in process ? process.output : process.lines.join('\n'));
  await vi.waitFor(() => expect(text()).toMatch(/Listening|Working/));
  return text().match(/[^"]* without REDIS_URL: [^"]*/g) ?? [];
}

const ANOTHER = ' uses this database without REDIS_URL: several need it, or ';

it('a process that finds another one without Redis says so at start, and one alone says nothing', async () => {
  expect(await said(api())).toEqual([]);
  expect(await said(api())).toEqual([`Another api${ANOTHER}each counts rate limits by itself`]);
  expect(await said(api(shared))).toEqual([`Another api${ANOTHER}each counts rate limits by itself`]);
  expect(await said(worker())).toEqual([]);
  expect(await said(worker())).toEqual([`Another worker${ANOTHER}each runs all recurring jobs`]);
  for (const any of [portal(), portal()]) expect(await said(any)).toEqual([]);
});

it('several with Redis say nothing, nor does the successor of one that was killed', async () => {
  for (const start of [api, api]) expect(await said(start(shared))).toEqual([]);
  const one = await api();
  one.signal('SIGKILL');
  await one.exit;
  expect(await said(api())).toEqual([]);
});

it('behind a pooler, nobody is seen', async () => {
  const pooler = await inTest(OldPooler.open(database.applicationUrl));
  expect(await new Presence(pooler.url, 'api').show()).toBe(false);
});
