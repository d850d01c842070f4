import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeys, type Scope, SCOPES } from '@app/access';
import { Organizations } from '@app/people';
import { loadEnv } from '@app/config';
import { connect, Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { load, type Outcome, requestOf } from '../../support/load/load.js';
import { OwnPostgres } from '../../support/database/own-postgres.js';
import { reached } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 47: PostgreSQL freezes under traffic, as when a disk hangs. Takes about two minutes. */
const PAUSED_MS = 1_000 * Number(process.env.SECONDS ?? 60);
const LIMIT_MS = 7_000;
const BACK_MS = 2_000;

let key: string;
let target: ApiProcess;

await buildOnce();
const postgres = await fixture(OwnPostgres.start());

beforeAll(async () => {
  const source = await connect({ url: postgres.urls.ownerUrl, poolSize: 1, applicationName: 'spec' });
  const rules = await rulesOn(new Database(source), loadEnv({}, {}));
  const { id } = await rules.get(Organizations).create({ name: 'P', slug: 'paused' });
  key = (await rules.get(ApiKeys).create(id, { name: 'paused', scopes: Object.keys(SCOPES) as Scope[] })).key;
  await source.destroy();
}, 300_000);

afterEach(async () => {
  signal('SIGCONT');
  await target.stop();
});

const start = async (more: Record<string, string> = {}) => {
  target = await ApiProcess.start({ DATABASE_URL: postgres.urls.applicationUrl, LOG_LEVEL: 'error', ...more });
  await load(target.port, { requests: [requestOf('/v1/homework', key)], connections: 20, seconds: 1 });
};

/** Signals the server and all its backends. */
function signal(name: NodeJS.Signals): void {
  const server = Number(readFileSync(join(postgres.urls.dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const parentOf = (pid: number) => Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  const children = readdirSync('/proc').map(Number).filter((pid) => {
    try {
      return pid > 0 && parentOf(pid) === server;
    } catch {
      // The process has ended.
      return false;
    }
  }); // prettier-ignore
  for (const pid of [server, ...children]) process.kill(pid, name);
}

/** Sends reads and writes before, during and after the pause. */
async function run(): Promise<{ outcome: Outcome; late: number; cut: number; wellAfter: number }> {
  const before = 3_000;
  const body = (n: number) => JSON.stringify({ first_name: 'A', last_name: 'B', email: `p${n}@paused.example` });
  const requests = Array.from({ length: 100 }, (_, n) =>
    n % 5 === 0
      ? requestOf('/v1/students', key, { method: 'POST', body: body(n) })
      : requestOf(['/v1/homework', '/v1/ping', '/v1/reports/summary', '/v1/tutors'][n % 4]!, key),
  );
  let [pausedAt, resumedAt] = [0, 0];
  const pause = async () => {
    await sleep(before);
    pausedAt = Date.now();
    signal('SIGSTOP');
    await sleep(PAUSED_MS);
    signal('SIGCONT');
    resumedAt = Date.now();
  };
  const seconds = (before + PAUSED_MS + 6_000) / 1_000;
  const [[outcome]] = (await Promise.all([load(target.port, { requests, connections: 200, rate: 25, seconds }), pause()])) as [[Outcome], unknown]; // prettier-ignore
  const { replies } = outcome;
  const bad = replies.filter(({ status, at }) => (status === 503 || status === 0) && at > resumedAt);
  expect(replies.some(({ status, at }) => status === 503 && at > pausedAt)).toBe(true);
  return {
    outcome,
    late: replies.filter(({ took }) => took > LIMIT_MS).length,
    cut: outcome.with(0).count,
    wellAfter: bad.reduce((last, { at }) => Math.max(last, at - resumedAt), 0),
  };
}

it('every request is answered while PostgreSQL is paused, and service recovers soon after', async () => {
  await start();
  const { outcome, late, cut, wellAfter } = await run();
  reached(47, `${outcome.count} answers (${outcome.statuses}) around a pause of ${PAUSED_MS / 1_000} s, the longest ${(outcome.percentile(1) / 1_000).toFixed(1)} s, ${late} late, ${cut} cut off; well ${(wellAfter / 1_000).toFixed(1)} s after`); // prettier-ignore
  expect([late, cut, outcome.untold]).toEqual([0, 0, 0]);
  expect(outcome.without(200, 201, 409, 422, 503).count).toBe(0);
  expect(wellAfter).toBeLessThanOrEqual(BACK_MS);
  expect([target.ended, target.stderr]).toEqual([null, '']);
});
