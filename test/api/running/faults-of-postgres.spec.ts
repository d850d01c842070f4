import { Agent, request as send } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadEnv } from '@app/config';
import { ApiKeys } from '@app/access';
import { Organizations } from '@app/people';
import { Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../libs/database/src/data-source.js';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { OwnPostgres } from '../../support/database/own-postgres.js';
import { fixture } from '../../support/process/fixture.js';

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const check = new AnswerCheck();

await buildOnce();
/** PostgreSQL crashes and recovers under a real API process, which never exits and answers 503 until it is back. */
const postgres = await fixture(OwnPostgres.start());
const key = await makeKey();
const api = await fixture(ApiProcess.start({ DATABASE_URL: postgres.urls.applicationUrl, DATABASE_POOL_SIZE: '5' }));

afterAll(() => agent.destroy());

async function makeKey(): Promise<string> {
  const options = dataSourceOptions({ url: postgres.urls.ownerUrl, poolSize: 1, applicationName: 'spec' });
  const source = await new DataSource(options).initialize();
  const rules = await rulesOn(new Database(source), loadEnv({}, {}));
  const { id } = await rules.get(Organizations).create({ name: 'Crash', slug: 'crash' });
  const { key } = await rules.get(ApiKeys).create(id, { name: 'crash' });
  await source.destroy();
  return key;
}

type Reply = { status: number; faults: string[]; milliseconds: number; began: number };

function ask(path: string): Promise<Reply> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Token token=${key}` };
    const sent = send({ host: '127.0.0.1', port: api.port, path, headers, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.on('end', () => {
        const status = response.statusCode!;
        const faults = check.faults({ status, headers: response.headers, body });
        resolve({ status, faults, milliseconds: performance.now() - began, began });
      });
    });
    sent.on('error', (error) => {
      reject(new Error(`${error.message}; the process has ended with ${api.ended}: ${api.stderr.slice(0, 500)}`));
    });
    sent.end();
  });
}

interface Traffic {
  /** Waits for several more replies with this status to requests sent from now on. */
  some(status: number): Promise<void>;
  stop(): Promise<Reply[]>;
}

/** Eight clients that send requests without pause. */
function traffic(): Traffic {
  let running = true;
  const replies: Reply[] = [];
  const paths = ['/v1/ping', '/v1/homework', '/v1/reports/summary', '/v1/tutors?cursor=start'];
  const client = async (index: number): Promise<void> => {
    for (let n = index; running; n++) {
      const reply = await ask(paths[n % paths.length]!);
      replies.push(reply);
      if (reply.status === 503) await sleep(20);
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, (_, index) => client(index)));
  // A failure surfaces through whatever is awaited next.
  all.catch(() => undefined);
  return {
    async some(status) {
      const since = performance.now();
      const enough = () => replies.filter((reply) => reply.status === status && reply.began > since).length > 20;
      await Promise.race([vi.waitUntil(enough), all]);
    },
    async stop() {
      running = false;
      await all;
      return replies;
    },
  };
}

it.each([1, 2, 3])('returns 503 during crash %i and then recovers', async () => {
  const load = traffic();
  await load.some(200);
  await postgres.crash();
  // The outage affects every client.
  await load.some(503);
  const live = await ask('/health/live');
  // Its state is refreshed every second.
  await vi.waitFor(async () => expect((await ask('/health/ready')).status).toBe(503));
  await postgres.revive();
  const revived = performance.now();
  await vi.waitFor(async () => expect((await ask('/v1/ping')).status).toBe(200), { interval: 20 });
  const back = performance.now();
  await load.some(200);
  const replies = await load.stop();

  const count = (status: number) => replies.filter((reply) => reply.status === status).length;
  const longest = Math.max(...replies.map(({ milliseconds }) => milliseconds));
  console.log(`${replies.length} replies: ${count(200)} × 200, ${count(503)} × 503, the longest ${Math.round(longest)} ms; back after ${Math.round(back - revived)} ms`);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 503]));
  expect(replies.flatMap(({ faults }) => faults)).toEqual([]);
  expect(live.status).toBe(200);
  // Nobody is refused after the first success.
  expect(replies.filter(({ status, began }) => status === 503 && began > back)).toEqual([]);
  expect([api.ended, api.stderr]).toEqual([null, '']);
}); // prettier-ignore

it('logs each failure and no other error', () => {
  const failures = api.lines.map((line) => JSON.parse(line) as { level: string; msg: string; code?: string }).filter(({ level }) => level === 'error');
  expect(failures.length).toBeGreaterThan(20);
  // Key usage and the request log are written in the background and may meet the outage too.
  const told = new Set(failures.map(({ msg, code }) => `${msg} ${code}`));
  const byTheWay = ['failure key_usage_not_written', 'failure request_log_not_written'];
  expect([...told].filter((line) => !byTheWay.includes(line))).toEqual(['failure service_unavailable']);
}); // prettier-ignore
