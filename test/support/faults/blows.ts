import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeys, type Scope, SCOPES } from '@app/access';
import { loadEnv } from '@app/config';
import { Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { Factories } from '../data/factories.js';
import type { Random } from '../data/random.js';
import { CommitTrap } from '../database/commit-trap.js';
import { createTestDatabase } from '../database/database.js';
import { difference } from '../database/difference.js';
import { OwnPostgres } from '../database/own-postgres.js';
import { buildOnce } from '../http/api-process.js';
import { inTest } from '../process/fixture.js';
import { KilledApi } from './killed-api.js';
import { type Habits, PersistentWriters, resultsOf } from './persistent-writers.js';
import { type Account, judge, type Mail, wantedOf } from './wanted-people.js';

/** What happens to whom, and how often. */
export interface Plan extends Habits {
  blows: number;
  /** Share of the blows that come when a write is committed but its client does not know; the rest are random. */
  untold: number;
  /** The settings of a PostgreSQL that crashes. Without them the API is killed. */
  postgres?: Record<string, string>;
  /** Several organizations, each with two clients, make commits overlap: writes of one wait for each other. Otherwise one client. */
  organizations?: number;
  /** A bug of the API. */
  planted?: Record<string, string>;
}

/** Minimum of writes between two blows. */
const WRITES_BETWEEN = 2;
const WAIT = { timeout: 60_000, interval: 10 };

/** All accounts, including incomplete ones. A person with two roles in an organization appears twice. */
export const ACCOUNTS = `
  SELECT u.id, u.last_name AS "lastName", t.user_id IS NOT NULL AS tied FROM users u LEFT JOIN (
    SELECT user_id FROM members UNION ALL SELECT user_id FROM parents
  ) t ON t.user_id = u.id`;
export const MAILS = `SELECT kind, recipient FROM outbox WHERE topic = 'email'`;
/** Every effect of a write: its audit row, its key, and the links between parents and children. */
const EFFECTS = `
  SELECT 'audit ' || request_id || ' ' || coalesce(details ->> 'user_ids', '') AS effect FROM audit_log
    WHERE result = 'done' AND api_key_id IS NOT NULL
  UNION ALL SELECT 'key ' || key FROM idempotency_keys WHERE status < 300
  UNION ALL SELECT 'link ' || p.last_name || ' of ' || s.last_name FROM parent_students l
    JOIN users p ON p.id = l.parent_id JOIN users s ON s.id = l.student_id`;

/** Strikes while clients write, then compares what is stored with what they were told. */
export async function underBlows({ blows, untold, postgres, organizations, planted = {}, ...habits }: Plan, random: Random) {
  await buildOnce();
  const own = postgres ? await inTest(OwnPostgres.start(postgres)) : null;
  const { adminUrl, applicationUrl } = own ? { ...own.urls, adminUrl: own.adminUrl } : await inTest(createTestDatabase());
  const keys = await withRows(adminUrl, (make) => makeKeys(make, organizations));
  const trap = await inTest(CommitTrap.open(applicationUrl));
  const settings = {
    DATABASE_URL: trap.url,
    DATABASE_POOL_SIZE: '5',
    SMTP_URL: 'smtp://127.0.0.1:1',
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  };
  const api = await inTest(KilledApi.start({ ...settings, ...(!own && { REQUEST_DEADLINE_SECONDS: '60' }), ...planted }));
  const writers = new PersistentWriters(api, random, keys, { ...habits, mortal: !own });
  /** Time from the revival to the first successful write (ms), per blow. */
  const back: number[] = [];
  let landed = 0;
  while (back.length < blows) {
    const done = writers.successes.length + WRITES_BETWEEN;
    await vi.waitUntil(() => writers.successes.length > done && (own !== null || api.ready), WAIT);
    await (random.chance(untold) ? trap.spring() : sleep(random.integer(200)));
    const struck = writers.watch();
    const began = performance.now();
    if (own) await own.crash().then(() => own.revive());
    else await api.kill();
    const ready = performance.now();
    const first = await vi.waitUntil(() => writers.successes.find(({ askedAt }) => askedAt > began), WAIT);
    back.push(Math.max(0, first.at - ready));
    if (struck() > 0) landed++;
  }
  await writers.stop();
  const differing = await writers.repeat();
  const stored = await withRows(adminUrl, (make) =>
    Promise.all([make.query<Account>(ACCOUNTS), make.query<Mail>(MAILS), make.query<{ effect: string }>(EFFECTS)]),
  );
  const [accounts, mails, effects] = stored;
  const expected = writers.writes.flatMap((write) => {
    const results = resultsOf(write);
    const ids = write.rows.length > 1 ? JSON.stringify(results.map(({ id }) => id)).replaceAll(',', ', ') : '';
    const families = wantedOf(write.rows, results).filter(({ lastName }) => lastName.endsWith('-parent'));
    const links = families.map(({ lastName }) => `link ${lastName} of ${lastName.replace('-parent', '')}`);
    return [`audit ${write.key} ${ids}`, `key ${write.key}`, ...links];
  });
  const { unexpected, doneUntold } = writers;
  const leftovers = difference(effects.map(({ effect }) => effect), expected); // prettier-ignore
  const { ended, stderr } = api.current;
  const wrong = { ...judge(writers.wanted, accounts, mails), differing, unexpected, leftovers, ended, stderr };
  const slowest = Math.round(Math.max(...back));
  const figures =
    `${blows} blows, ${landed} in a write, ${writers.writes.length} writes of ${writers.wanted.length} people, ${doneUntold} done ` +
    `untold: ${wrong.duplicates} duplicates, ${wrong.losses} losses, ${differing.length} differing answers, back after ${slowest} ms at most`;
  return { wrong, landed, doneUntold, slowest, figures };
}

/** What must be wrong of all that: nothing. */
export const NOTHING_WRONG = {
  ...{ duplicates: 0, losses: 0, mailsTwice: 0, mailsLost: 0 },
  ...{ differing: [], unexpected: [], leftovers: [], ended: null, stderr: '' },
};

/** Opens connections only for `work`, so that no crash breaks them. */
async function withRows<T>(adminUrl: string, work: (make: Factories) => Promise<T>): Promise<T> {
  const make = await Factories.connect({ adminUrl });
  return work(make).finally(() => make.close());
}

async function makeKeys(make: Factories, organizations?: number): Promise<string[]> {
  const apiKeys = (await rulesOn(new Database(make.db), loadEnv({}, {}))).get(ApiKeys);
  const keys: string[] = [];
  for (let count = 0; count < (organizations ?? 1); count++) {
    const { id } = await make.organization();
    const { key } = await apiKeys.create(id, { name: 'blows', scopes: Object.keys(SCOPES) as Scope[] });
    keys.push(...(organizations ? [key, key] : [key]));
  }
  // A crash with the planted bug then loses only later writes.
  await make.query('CHECKPOINT');
  return keys;
}
