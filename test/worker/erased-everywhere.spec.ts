import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import type { Scope } from '@app/access';
import { loadEnv } from '@app/config';
import { ErasureService } from '../../apps/worker/src/housekeeping/erasure.service.js';
import { ExportsService } from '../../apps/worker/src/exports/exports.service.js';
import { WorkerModule } from '../../apps/worker/src/worker.module.js';
import { everythingIn, filesBelow, rowsWith } from '../support/data/traces.js';
import { TestApi } from '../support/http/api.js';
import { TestPortal } from '../support/portal/portal.js';
import { fixture } from '../support/process/fixture.js';
import { logTo } from '../support/process/log-to.js';
import { TestRedis } from '../support/worker/redis.js';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'erased-everywhere-'));
afterAll(() => rmSync(DATA_DIR, { recursive: true }));
const redis = await fixture(TestRedis.start());
const settings = {
  ...{ DATA_DIR, ENCRYPTION_KEY: '5e'.repeat(32), SMTP_URL: 'smtp://127.0.0.1:1', REDIS_URL: redis.url, LOG_LEVEL: 'debug' },
  ...{ REQUEST_LOG: 'true', TRUST_PROXY: 'true' },
};
const api = await fixture(TestApi.start(settings));
const portal = await fixture(TestPortal.start(settings, api.database));
const workerLog: string[] = [];
const env = loadEnv({ ...settings, WORKER_DATABASE_URL: api.database.workerUrl }, {});
const worker = await fixture(Test.createTestingModule({ imports: [WorkerModule.forRoot(env, logTo(workerLog))] }).compile());
const { make } = api;

const SCOPES: Scope[] = ['read', 'write', 'accounts:write', 'leads:write', 'erasure:write'];
const PERSON = { first_name: 'Zephyrine', last_name: 'Quillfeather', phone: '+61 491 570 156', email: 'zephyrine.quillfeather@example.org' };
const WORDS = ['zephyrine', 'quillfeather', '491570156', '491 570 156'];

/** Where one of the words stands, besides the database. */
async function traces(): Promise<Record<string, string[]>> {
  const client = redis.client();
  const files = filesBelow(DATA_DIR);
  const places = {
    ...{ api: api.logged.join(''), portal: portal.logged.join(''), worker: workerLog.join(''), redis: await everythingIn(client) },
    files: `${files.join('\n')} ${(await Promise.all(files.map((path) => readFile(path, 'latin1')))).join('\n')}`,
  };
  client.disconnect();
  const found = Object.entries(places).map(([place, text]) => [place, WORDS.filter((word) => text.toLowerCase().includes(word))]);
  return Object.fromEntries(found) as Record<string, string[]>;
}

it('whoever is erased is in no table, log, Redis, prepared export or file', async () => {
  await worker.init();
  const owner = await portal.someone('owner');
  const { id: school, slug } = owner.organization;
  const key = await api.key(school, { scopes: SCOPES });
  const { port } = api.server.address() as { port: number };
  const call = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Token token=${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': path };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: body && JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as { id: string } };
  };
  // Whatever a process might write down: names in bodies, queries and refusals, mails, passwords that are wrong, and stored answers.
  const made = await call('POST', '/v1/students', PERSON);
  expect(made.status).toBe(201);
  const { id } = made.body;
  expect((await call('POST', '/v1/students', { ...PERSON, surname: PERSON.last_name })).status).toBe(422);
  expect((await call('GET', `/v1/students?search=${PERSON.last_name}`)).status).toBe(200);
  expect((await call('GET', `/v1/students?serach=${PERSON.last_name}`)).status).toBe(422);
  await call('POST', '/v1/leads', { name: `${PERSON.first_name} ${PERSON.last_name}`, email: PERSON.email, phone: PERSON.phone });
  await call('POST', '/v1/org-inbox', { guest_name: PERSON.first_name, guest_email: PERSON.email, message: 'Hello' });
  for (let attempt = 0; attempt < 3; attempt++) await portal.post('/sign-in', { email: PERSON.email, password: 'wrong' });
  await portal.post('/forgot-password', { email: PERSON.email });
  await vi.waitFor(
    async () => expect(await make.query(`SELECT FROM outbox WHERE email_normalized = $1 AND attempts > 0`, [PERSON.email])).not.toEqual([]),
    {
      timeout: 30_000,
      interval: 100,
    },
  );
  await portal.post(`/o/${slug}/exports`, {}, owner.cookie).expect(303);
  await worker.get(ExportsService).runOnce();
  const exports = () => filesBelow(DATA_DIR).filter((path) => path.includes('/exports/'));
  await vi.waitFor(() => expect(exports()).toHaveLength(1), { timeout: 30_000, interval: 100 });
  expect((await rowsWith(make, 'quillfeather')).length).toBeGreaterThan(3);

  await portal.post(`/o/${slug}/people/${id}/remove`, { sessions: 'unassign', form_token: id }, owner.cookie);
  await portal.post(`/o/${slug}/people/${id}/erase/ask`, { results: 'erase' }, owner.cookie).expect(303);
  await make.query(`UPDATE erasures SET due_at = now() - interval '1 second' WHERE person_id = $1`, [id]);
  await worker.get(ErasureService).runOnce();
  await worker.get(ExportsService).runOnce();
  expect(await make.query('SELECT FROM users WHERE id = $1', [id])).toEqual([]);

  expect(await rowsWith(make, ...WORDS)).toEqual([]);
  expect((await rowsWith(make, id)).map(({ table }) => table).filter((table) => table !== 'event_changes' && table !== 'events')).toEqual([]);
  expect(exports()).toEqual([]);
  await worker.close();
  expect(await traces()).toEqual({ api: [], portal: [], worker: [], redis: [], files: [] });
  const client = redis.client();
  expect(await everythingIn(client)).toContain('tutoring:email:');
  client.disconnect();
});
