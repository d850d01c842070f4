import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import supertest from 'supertest';
import { Database } from '@app/database';
import type { TestDatabase } from '../../support/database/database.js';
import { OwnPostgres } from '../../support/database/own-postgres.js';
import { Random } from '../../support/data/random.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { cpuOf } from '../../support/process/processes.js';
import { fixture } from '../../support/process/fixture.js';
import { TestRedis } from '../../support/worker/redis.js';

/** A streaming replica that is killed under load, and what it takes off the primary. Takes about five minutes. */
const KILLS = Number(process.env.KILLS ?? 50);
const READS = 1_500;
const SEED = seedOf();

const primary = await fixture(OwnPostgres.start({ synchronous_commit: 'on', autovacuum: 'off' }));
const replica = await fixture(primary.replica());
const redis = await fixture(TestRedis.start());
const database = { ...primary.urls, adminUrl: primary.adminUrl } as unknown as TestDatabase;
const settings = { ENCRYPTION_KEY: randomBytes(32).toString('hex'), REDIS_URL: redis.url };
const alone = await fixture(TestApi.start(settings, database));
const reader = await fixture(TestApi.start({ ...settings, DATABASE_REPLICA_URLS: replica.urls.applicationUrl }, database));
const writer = await fixture(TestApi.start({ ...settings, DATABASE_REPLICA_URLS: replica.urls.applicationUrl }, database));
const { id: school } = await alone.make.organization();
const key = await alone.key(school, { scopes: ['read', 'settings:write'] });
const subjects = await Promise.all(Array.from({ length: 4 }, () => alone.make.subject(school)));

const fromReplica = () => reader.app.get(Database).readsSoFar!.replica;

const whenReplica = () =>
  vi.waitFor(
    async () => {
      const before = fromReplica();
      await reader.get('/v1/subjects', key);
      expect(fromReplica()).toBe(before + 1);
    },
    { timeout: 60_000, interval: 100 },
  );

it(`is killed ${KILLS} times, and no request fails or misses what was written before it`, async () => {
  const random = new Random(SEED);
  const found = { reads: 0, failed: 0, missed: 0 };
  let over = false;
  const client = async (subject: string) => {
    while (!over) {
      const name = randomBytes(8).toString('hex');
      const written = await supertest(writer.server).patch(`/v1/subjects/${subject}`).set('Authorization', `Token token=${key}`).send({ name });
      for (const path of [`/v1/subjects/${subject}`, '/v1/subjects', '/v1/homework']) {
        const { status, text } = await reader.get(path, key);
        found.reads++;
        if (status !== 200 || written.status !== 200) found.failed++;
        else if (path !== '/v1/homework' && !text.includes(name)) found.missed++;
      }
    }
  };
  const before = fromReplica();
  const clients = subjects.map(({ id }) => client(id));
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(random.integer(1_500));
    await replica.crash();
    await sleep(random.integer(1_500));
    await replica.revive();
  }
  over = true;
  await Promise.all(clients);
  const share = (fromReplica() - before) / found.reads;
  reached(
    64,
    `${KILLS} kills, ${found.reads} reads, ${Math.round(100 * share)} % of them from the replica: ${found.failed} failed, ${found.missed} missed`,
    SEED,
  );
  expect({ failed: found.failed, missed: found.missed }).toEqual({ failed: 0, missed: 0 });
  expect(share).toBeGreaterThan(0.1);
});

it('takes reads off the primary: at most 0.15 of its CPU is left', async () => {
  await whenReplica();
  const cpu = () => primary.processes().reduce((sum, pid) => sum + cpuOf(pid), 0);
  const read = async (api: TestApi) => {
    for (let time = 0; time < READS / 4; time++) await Promise.all(subjects.map(() => api.get('/v1/subjects', key).expect(200)));
  };
  await read(alone);
  await read(reader);
  const used = { alone: 0, reader: 0 };
  for (let round = 0; round < 3; round++) {
    for (const [name, api] of [
      ['alone', alone],
      ['reader', reader],
    ] as const) {
      const before = cpu();
      await read(api);
      used[name] += cpu() - before;
    }
  }
  reached(65, `${(used.alone / 3 / READS).toFixed(2)} ms of the primary for a read, ${(used.reader / 3 / READS).toFixed(2)} with a replica`);
  expect(used.reader / used.alone).toBeLessThan(0.15);
});
