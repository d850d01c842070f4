import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import supertest from 'supertest';
import { Database } from '@app/database';
import { Positions } from '../../libs/database/src/replicas/positions.js';
import type { TestDatabase } from '../support/database/database.js';
import { OwnPostgres } from '../support/database/own-postgres.js';
import { inReport, reached } from '../support/faults/promise.js';
import { TestApi } from '../support/http/api.js';
import { TestPortal } from '../support/portal/portal.js';
import { fixture } from '../support/process/fixture.js';
import { TestRedis } from '../support/worker/redis.js';

const primary = await fixture(OwnPostgres.start({ synchronous_commit: 'on' }));
// Far enough behind that a read which does not care misses what was just written.
const replica = await fixture(primary.replica({ recovery_min_apply_delay: '100ms' }));
const redis = await fixture(TestRedis.start());
const settings = {
  ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  REDIS_URL: redis.url,
  DATABASE_REPLICA_URLS: replica.urls.applicationUrl,
};
const database = { ...primary.urls, adminUrl: primary.adminUrl } as unknown as TestDatabase;
const writer = await fixture(TestApi.start(settings, database));
const reader = await fixture(TestApi.start(settings, database));
const portal = await fixture(TestPortal.start(settings, database));
const { organization: school, cookie } = await portal.someone('owner');
const key = await writer.key(school.id, { scopes: ['read', 'settings:write'] });

const told = (): { replica: number; behind: number; failed: number } => ({ ...reader.app.get(Database).readsSoFar! });
const { id: subject } = await writer.make.subject(school.id);
const write = async () => {
  const name = randomBytes(8).toString('hex');
  const request = supertest(writer.server).patch(`/v1/subjects/${subject}`).set('Authorization', `Token token=${key}`);
  await request.send({ name }).expect(200);
  return name;
};
const read = async (path = 'subjects', by = key) => (await reader.get(`/v1/${path}`, by)).status;

/** Waits until all reads, or none, come from the replica. */
const whenReplica = (reads: boolean) =>
  vi.waitFor(
    async () => {
      const before = told();
      expect(await read()).toBe(200);
      expect(told().replica - before.replica).toBe(reads ? 1 : 0);
    },
    { timeout: 60_000, interval: 100 },
  );

/** Writes here, reads there. @returns how often what was written was missed */
async function missed(times: number): Promise<number> {
  let count = 0;
  for (let time = 0; time < times; time++) {
    const name = await write();
    const { status, text } = await reader.get(`/v1/subjects/${subject}`, key);
    if (status !== 200 || !text.includes(name)) count++;
  }
  return count;
}

async function replay(what: 'pause' | 'resume'): Promise<void> {
  const client = new pg.Client({ connectionString: replica.adminUrl });
  await client.connect();
  await client.query(`SELECT pg_wal_replay_${what}()`);
  await client.end();
}

beforeEach(() => whenReplica(true));

it('reads show what any process has written, and come from the replica once it has it', async () => {
  const times = inReport(1_000, 20);
  expect(await missed(times)).toBe(0);
  await whenReplica(true);
  const before = told();
  for (let time = 0; time < 20; time++) expect(await read()).toBe(200);
  // A busy machine may compare positions too late, now and then.
  expect(told().replica - before.replica).toBeGreaterThan(10);
  expect(told().failed).toBe(before.failed);
  reached(63, `${times} reads after a write of another process: 0 missed`);
});

it('they would miss it without what processes tell each other', async () => {
  const unaware = vi.spyOn(Positions.prototype, 'of').mockResolvedValue('0');
  expect(await missed(10)).toBeGreaterThan(5);
  unaware.mockRestore();
});

it('a key that the portal revokes reads nothing more', async () => {
  let served = 0;
  for (let time = 0; time < inReport(100, 5); time++) {
    const revoked = await writer.key(school.id, { name: `Key ${time}` });
    const [{ id }] = (await writer.make.query<{ id: string }>('SELECT id FROM api_keys WHERE name = $1', [`Key ${time}`])) as [{ id: string }];
    // Tells of the key, too.
    await write();
    expect(await read('subjects', revoked)).toBe(200);
    await whenReplica(true);
    expect(await read('subjects', revoked)).toBe(200);
    await portal.post(`/o/${school.slug}/keys/${id}/revoke`, {}, cookie).expect(303);
    if ((await read('subjects', revoked)) !== 401) served++;
  }
  expect(served).toBe(0);
});

it('an event is shown once its record can be read', async () => {
  type Feed = { data: { resource_id: string }[]; meta: { next_cursor: string } };
  let cursor = 'now';
  const next = async () => {
    const { data, meta } = (await reader.get(`/v1/events?cursor=${cursor}&wait=20`, key)).body as Feed;
    cursor = meta.next_cursor;
    return data.map((event) => event.resource_id);
  };
  cursor = ((await reader.get('/v1/events?cursor=now', key)).body as Feed).meta.next_cursor;
  for (let time = 0; time < inReport(50, 3); time++) {
    // Nobody tells of what is written so.
    const { id } = await writer.make.subject(school.id);
    for (let told: string[] = []; !told.includes(id); told = await next());
    expect(await read(`subjects/${id}`)).toBe(200);
  }
});

it('a replica that stands still is left alone within two seconds', async () => {
  await replay('pause');
  await writer.make.subject(school.id);
  await whenReplica(false);
  expect(await missed(3)).toBe(0);
  await replay('resume');
});

it('requests go on while it is dead or hangs, and while Redis is', async () => {
  const all = async (milliseconds: number) => {
    const [end, statuses] = [Date.now() + milliseconds, new Set<number>()];
    while (Date.now() < end) for (const status of await Promise.all([read(), read(), read()])) statuses.add(status);
    return [...statuses];
  };
  await replica.crash();
  expect(await all(1_500)).toEqual([200]);
  await replica.revive();
  await whenReplica(true);
  replica.signal('SIGSTOP');
  const hung = all(1_500);
  await sleep(1_500);
  expect(await hung).toEqual([200]);
  replica.signal('SIGCONT');
  await whenReplica(true);
  await redis.kill();
  expect(await all(500)).toEqual([200]);
  await whenReplica(false);
  expect(await missed(5)).toBe(0);
  await redis.restart();
});
