import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeys, type Scope, SCOPES } from '@app/access';
import { loadEnv } from '@app/config';
import { Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { CommitTrap } from '../../support/database/commit-trap.js';
import { Factories } from '../../support/data/factories.js';
import { OwnPostgres } from '../../support/database/own-postgres.js';
import { PersistentWriters } from '../../support/faults/persistent-writers.js';
import { Random } from '../../support/data/random.js';
import { ACCOUNTS, MAILS } from '../../support/faults/victims.js';
import { type Account, judge, type Mail, type Verdict } from '../../support/faults/wanted-people.js';
import { reached } from '../../support/faults/promise.js';

/** Promise 2: PostgreSQL crashes during writes. Takes about four minutes. */
const CRASHES = Number(process.env.CRASHES ?? 50);
/** Share of crashes that must hit a write for the run to prove anything. */
const LANDED = 0.8;
/** Several organizations, so that commits overlap: writes of different organizations do not wait for each other. */
const ORGANIZATIONS = 4;
const CLIENTS_OF_EACH = 2;
/** Minimum writes between two crashes. */
const WRITES_BETWEEN = 10;
/** Share of crashes that come right after a commit, before the client learns of it. */
const UNTOLD = 0.3;
const DURABLE = { synchronous_commit: 'on', fsync: 'on' };
const BACK_WITHIN_MS = 2_000;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

interface Report extends Verdict {
  landed: number;
  doneUntold: number;
  /** Time from PostgreSQL's restart to the first successful write (ms), per crash. */
  back: number[];
  unexpected: string[];
  differing: string[];
  api: ApiProcess;
}

interface Plan {
  times: number;
  /** PostgreSQL settings. */
  settings: Record<string, string>;
  /** Share of the crashes that come when a write is committed but its client does not know; the rest are random. */
  untold: number;
  /** Makes clients retry with new idempotency keys. */
  forgetful?: boolean;
}

/** Crashes PostgreSQL while clients write, then compares what is stored with what they were told. */
async function crash({ times, settings, untold, forgetful = false }: Plan): Promise<Report> {
  const random = new Random(SEED);
  const postgres = await OwnPostgres.start(settings);
  const keys = await atDatabase(postgres, makeKeys);
  const trap = await CommitTrap.open(postgres.urls.applicationUrl);
  const api = await ApiProcess.start({
    DATABASE_URL: trap.url,
    DATABASE_POOL_SIZE: '5',
    SMTP_URL: 'smtp://127.0.0.1:1',
  });
  try {
    const writers = new PersistentWriters(api.port, random, keys, forgetful);
    const back: number[] = [];
    let landed = 0;
    for (let count = 0; count < times; count++) {
      const done = writers.successes.length + WRITES_BETWEEN;
      await vi.waitFor(() => expect(writers.successes.length).toBeGreaterThan(done), { timeout: 30_000, interval: 10 });
      await (random.chance(untold) ? trap.spring() : sleep(random.integer(200)));
      const struck = writers.watch();
      await postgres.crash();
      const crashed = performance.now();
      await postgres.revive();
      const ready = performance.now();
      const first = await vi.waitFor(
        () => {
          const success = writers.successes.find(({ askedAt }) => askedAt > crashed);
          expect([success, api.ended]).toEqual([expect.anything(), null]);
          return success!;
        },
        { timeout: 30_000, interval: 10 },
      );
      back.push(Math.max(0, first.at - ready));
      if (struck() > 0) landed++;
    }
    await writers.stop();
    expect(api.ended).toBeNull();
    const differing = await writers.repeatFailed();
    const [accounts, mails] = await atDatabase(postgres, (make) => Promise.all([make.query<Account>(ACCOUNTS), make.query<Mail>(MAILS)]));
    const verdict = judge(writers.wanted, accounts, mails);
    const failed = writers.writes.filter(({ failures }) => failures > 0).length;
    const slowest = Math.round(Math.max(...back));
    process.stdout.write(
      `postgres-crashes ${JSON.stringify(settings)}: ${times} crashes, ${landed} in a write, ${writers.writes.length} writes ` +
        `of ${writers.wanted.length} people, ${failed} failed first, ${writers.doneUntold} of them done all the same, ` +
        `${verdict.duplicates} duplicates, ${verdict.losses} losses, ${verdict.mailsTwice} mails twice, ` +
        `${verdict.mailsLost} mails lost, back after ${slowest} ms at most, seed ${SEED}\n`,
    );
    return { ...verdict, landed, doneUntold: writers.doneUntold, back, unexpected: writers.unexpected, differing, api };
  } finally {
    await api.stop();
    await trap.close();
    await postgres.stop();
  }
}

/** Opens connections only for `work`, so that no crash breaks them. */
async function atDatabase<T>({ adminUrl }: OwnPostgres, work: (make: Factories) => Promise<T>): Promise<T> {
  const make = await Factories.connect({ adminUrl });
  try {
    return await work(make);
  } finally {
    await make.close();
  }
}

async function makeKeys(make: Factories): Promise<string[]> {
  const apiKeys = (await rulesOn(new Database(make.db), loadEnv({}, {}))).get(ApiKeys);
  const keys: string[] = [];
  for (let count = 0; count < ORGANIZATIONS; count++) {
    const { id } = await make.organization();
    const { key } = await apiKeys.create(id, { name: 'crashes', scopes: Object.keys(SCOPES) as Scope[] });
    for (let client = 0; client < CLIENTS_OF_EACH; client++) keys.push(key);
  }
  // A crash with the planted bug then loses only later writes.
  await make.query('CHECKPOINT');
  return keys;
}

beforeAll(() => buildOnce());

it(`${CRASHES} crashes of PostgreSQL during writes lose nothing, duplicate nothing, and recovery is quick`, async () => {
  const report = await crash({ times: CRASHES, settings: DURABLE, untold: UNTOLD });
  reached(
    2,
    `${CRASHES} crashes, ${report.landed} in a write: ${report.duplicates} duplicates, ${report.losses} losses, ` +
      `up after ${Math.round(Math.max(...report.back))} ms at most`,
    SEED,
  );
  expect(report.landed).toBeGreaterThanOrEqual(CRASHES * LANDED);
  expect(report.doneUntold).toBeGreaterThanOrEqual((CRASHES * UNTOLD) / 2);
  const { duplicates, losses, mailsTwice, mailsLost, unexpected, differing } = report;
  expect({ duplicates, losses, mailsTwice, mailsLost, unexpected, differing }).toEqual({
    duplicates: 0,
    losses: 0,
    mailsTwice: 0,
    mailsLost: 0,
    unexpected: [],
    differing: [],
  });
  expect(Math.max(...report.back)).toBeLessThanOrEqual(BACK_WITHIN_MS);
  expect(report.api.stderr).toBe('');
});

it('catches a PostgreSQL that confirms commits before they are durable', async () => {
  const { losses } = await crash({ times: 5, settings: { synchronous_commit: 'off' }, untold: 0 });
  expect(losses).toBeGreaterThan(0);
});

it('catches clients that retry with another key', async () => {
  const { duplicates } = await crash({ times: 20, settings: DURABLE, untold: 1, forgetful: true });
  expect(duplicates).toBeGreaterThan(0);
});
