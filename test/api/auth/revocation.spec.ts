import { Agent, request as send } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { repeated } from '../../support/http/repeated.js';
import { inReport, reached } from '../../support/faults/promise.js';

/** A revoked or expired key opens nothing on any process from that moment on, even under traffic. */
const PROCESSES = 4;
const KEYS = inReport(50, 20);
/** Requests per second, over all processes and keys. */
const RATE = 500;
/** Requests in flight at least. */
const LEAST = 4;

interface Sent {
  key: string;
  process: number;
  /** Milliseconds since 1970, as the database counts them too. */
  sentAt: number;
  endedAt: number;
  status: number;
  body: string;
}
let processes: ApiProcess[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
let inFlight = 0;
const answers: Sent[] = [];

await buildOnce();
const api = await TestApi.shared();
const organizationId = (await api.organizations.create({ name: 'Keys', slug: 'keys' })).id;
// A busy machine answers late, but it answers.
const settings = { DATABASE_URL: api.database.applicationUrl, DATABASE_POOL_SIZE: '5', REQUEST_DEADLINE_SECONDS: '60' };
processes = await Promise.all(Array.from({ length: PROCESSES }, () => ApiProcess.start(settings)));

afterAll(async () => {
  agent.destroy();
  await Promise.all(processes.map((process) => process.stop()));
});

/** Date.now() with fractions, so that two events in the same millisecond keep their order. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function ask(key: string, process: number): Promise<Sent> {
  return new Promise((resolve, reject) => {
    inFlight++;
    const { port } = processes[process]!;
    const headers = { Authorization: `Token token=${key}` };
    const sentAt = now();
    const sent = send({ host: '127.0.0.1', port, path: '/v1/ping', headers, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.on('end', () => {
        inFlight--;
        const answer = { key, process, sentAt, endedAt: now(), status: response.statusCode!, body };
        // What a busy machine refuses proves nothing.
        if (answer.status !== 503) answers.push(answer);
        resolve(answer);
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Keeps the rate until `stop` is called; slower answers only mean more in flight, and fast ones a higher rate. */
function traffic(keys: string[]): { stop(): Promise<void> } {
  const began = performance.now();
  const pending = new Set<Promise<unknown>>();
  let [count, running] = [0, true];
  const fill = () => {
    const due = ((performance.now() - began) / 1000) * RATE;
    for (; running && (count < due || pending.size < LEAST) && pending.size < 200; count++) {
      const one = ask(keys[count % keys.length]!, Math.floor(count / keys.length) % PROCESSES);
      pending.add(one);
      void one.finally(() => {
        pending.delete(one);
        fill();
      });
    }
  };
  const timer = setInterval(fill, 10);
  return {
    async stop() {
      running = false;
      clearInterval(timer);
      await Promise.all(pending);
    },
  };
}

describe(`${PROCESSES} processes under ${RATE} requests a second`, () => {
  it(`refuse each of ${KEYS} keys as soon as its revocation returns`, async () => {
    const { keys } = api;
    const made = await Promise.all(Array.from({ length: KEYS }, () => keys.create(organizationId, { name: 'revoked' })));
    answers.length = 0;
    const load = traffic(made.map(({ key }) => key));
    // Each key has worked, and each process has accepted some.
    await vi.waitFor(() => {
      expect(new Set(answers.filter(({ status }) => status === 200).map(({ key }) => key)).size).toBe(KEYS);
      expect(new Set(answers.map(({ process }) => process)).size).toBe(PROCESSES);
    });
    const revokedAt = new Map<string, number>();
    const flying: number[] = [];
    const checks: Promise<Sent[]>[] = [];
    for (const { id, key } of made) {
      await keys.revokeOf(organizationId, id);
      revokedAt.set(key, now());
      flying.push(inFlight);
      // Immediately, on every process, while the traffic continues.
      checks.push(Promise.all(processes.map((_, process) => repeated(() => ask(key, process)))));
      await sleep(30);
    }
    // A busy machine answers fewer per second, so wait for a number of requests.
    const late = () => answers.filter(({ key, sentAt }) => sentAt > revokedAt.get(key)!);
    await vi.waitFor(() => {
      expect(answers.length).toBeGreaterThan(RATE * 1.5);
      expect(late().length).toBeGreaterThan(KEYS * PROCESSES * 1.5);
    });
    await load.stop();
    const atOnce = (await Promise.all(checks)).flat();
    const seconds = (answers.at(-1)!.endedAt - answers[0]!.sentAt) / 1000;
    const after = late();
    const before = answers.filter(({ key, endedAt }) => endedAt < revokedAt.get(key)!);
    const busy = flying.filter((count) => count > 0).length;
    reached(
      19,
      `${answers.length} requests in ${seconds.toFixed(1)} s (${Math.round(answers.length / seconds)}/s), ${after.length} after a ` +
        `revocation; in flight when one returned: ${Math.max(...flying)} at most, some at ${busy} of ${KEYS}`,
    );

    expect(after.filter(({ status }) => status !== 401)).toEqual([]);
    expect(after.every(({ body }) => body.includes('revoked_api_key'))).toBe(true);
    expect(atOnce.map(({ status }) => status)).toEqual(Array<number>(KEYS * PROCESSES).fill(401));
    // The keys worked until then on every process, and the revocations met real traffic.
    expect(answers.filter(({ status }) => status !== 200 && status !== 401)).toEqual([]);
    const working = before.filter(({ status }) => status === 200);
    expect(new Set(working.map(({ key }) => key)).size).toBe(KEYS);
    expect(new Set(working.map(({ process }) => process)).size).toBe(PROCESSES);
    expect(busy).toBeGreaterThan(KEYS / 5);
  });

  it('refuse a key as soon as it expires', async () => {
    const { id, key } = await api.keys.create(organizationId, { name: 'expires', expiresAt: new Date(Date.now() + 3_600_000) });
    const everywhere = async () => {
      const told = await Promise.all(processes.map((_, process) => repeated(() => ask(key, process))));
      return told.map(({ status, body }) => (status === 200 ? 200 : body));
    };
    expect(await everywhere()).toEqual([200, 200, 200, 200]);
    await api.make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [id]);
    const message = 'API key has expired. Create a new key in your org settings.';
    expect(await everywhere()).toEqual(Array(PROCESSES).fill(JSON.stringify({ code: 401, message, data: {} })));
  });
});
