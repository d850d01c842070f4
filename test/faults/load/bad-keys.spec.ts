import { randomBytes } from 'node:crypto';
import { plantedBug } from '../../support/faults/planted-bug.js';
import { reached } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { beside } from '../../support/load/beside.js';
import { load, type Outcome, requestOf } from '../../support/load/load.js';
import { fixture, inTest } from '../../support/process/fixture.js';

/**
 * Promise 21: bad keys reveal little and slow nobody down. Sends 5,000 requests of each kind, each kind from its own
 * address, while valid keys work from other addresses. Takes about five minutes.
 */
const REQUESTS = Number(process.env.REQUESTS ?? 5_000);
const FAILURES = 30;
/** Bad requests per second of each kind. More would measure contention for two cores, not the cost of a bad key. */
const PER_SECOND = 50;
/** Seconds with bad requests, and as many without, in turns: other load on the machine affects both alike. */
const TURN = 5;
/** The p99 of valid keys may grow by this share, or by this many milliseconds: the noise of a busy machine. */
const [SLOWER, SLOWER_MS] = [0.1, 2];
const VALID_KEYS = 5;

await buildOnce();
const api = await fixture(TestApi.start());
const { id } = await api.organizations.create({ name: 'Keys', slug: 'keys' });
const revoked = await api.keys.create(id, { name: 'revoked' });
await api.keys.revokeOf(id, revoked.id);

const start = (more: Record<string, string> = {}) =>
  inTest(ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, AUTH_FAILURES_PER_MINUTE: String(FAILURES), TRUST_PROXY: 'true', ...more }));
const ping = (address: string, authorization?: string) =>
  requestOf('/v1/ping', null, { headers: [['X-Forwarded-For', address], ...(authorization ? [['Authorization', authorization] as [string, string]] : [])] }); // prettier-ignore
const unknown = () => `Token token=tk_live_${randomBytes(32).toString('hex')}`;
const KINDS = {
  missing: [ping('203.0.113.1')],
  garbage: [ping('203.0.113.2', 'Token token=garbage')],
  unknown: Array.from({ length: PER_SECOND * TURN }, () => ping('203.0.113.3', unknown())),
  revoked: [ping('203.0.113.4', `Token token=${revoked.key}`)],
};

/** Backends report their counts about a second after their last work: polls until the count stops changing. */
async function writes(): Promise<number> {
  const count = async () =>
    (await api.make.query<{ n: number }>(`SELECT n_tup_upd::int AS n FROM pg_stat_user_tables WHERE relname = 'api_keys'`))[0]!.n;
  let last = -1;
  await vi.waitUntil(async () => last === (last = await count()), { timeout: 60_000, interval: 2_500 });
  return last;
}

it('bad keys get identical refusals, then 429, and slow nobody else down', async () => {
  const { port } = await start();
  // All that a refusal tells, but for its time and its id.
  const headers = [{}, { Authorization: 'Token token=garbage' }, { Authorization: unknown() }, { Authorization: `Token token=${revoked.key}` }];
  for (const [index, kind] of headers.entries()) {
    const told = new Set<string>();
    for (let n = 0; n < FAILURES / 2; n++) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/ping`, { headers: { ...kind, 'X-Forwarded-For': `203.0.113.${index + 11}` } });
      const { date: _, 'x-request-id': __, ...rest } = Object.fromEntries(answer.headers);
      told.add(JSON.stringify([answer.status, rest, await answer.text()]));
    }
    expect([...told]).toEqual([expect.stringMatching(/^\[401,/)]);
  }
  const rounds = Math.ceil(REQUESTS / (PER_SECOND * TURN));
  const keys = await Promise.all(Array.from({ length: VALID_KEYS }, () => api.key(id)));
  const fresh = await Promise.all(Array.from({ length: rounds * TURN }, () => api.key(id)));
  const scene = {
    usual: { requests: keys.map((key) => ping('198.51.100.1', `Token token=${key}`)), connections: 20, rate: 50 },
    // A valid key works from a failing address, too, even if it has never been used before.
    checks: [{ requests: [...keys, ...fresh].map((key) => ping('203.0.113.3', `Token token=${key}`)), connections: 2, rate: 2 }],
    attack: Object.values(KINDS).map((requests) => ({ requests, connections: 10, rate: PER_SECOND })),
    statuses: [401],
  };
  // Warms up.
  await load(port, { ...scene.usual, seconds: TURN });
  const written = await writes();
  const began = performance.now();
  const result = await beside(port, scene, { quiet: TURN, attacked: TURN, rounds });
  const minutes = Math.ceil((performance.now() - began) / 60_000);
  const updates = (await writes()) - written;
  const [alone, p99] = result.p99;
  const refused = Object.keys(KINDS).map((kind, lane) => `${kind} ${result.attack[lane]!.statuses}`);
  reached(21, `${refused.join('; ')}; p99 of others ${alone.toFixed(1)} ms alone, ${p99.toFixed(1)} ms beside; ${updates} writes in ${minutes} min`);
  expect(result.breaches).toEqual([]);
  for (const outcome of result.attack) {
    expect(outcome.with(401).count).toBeGreaterThanOrEqual(FAILURES);
    expect(outcome.with(401).count).toBeLessThanOrEqual(FAILURES * (minutes + 1));
    expect(outcome.with(401, 429).count).toBeGreaterThan(REQUESTS / 2);
  }
  expect(updates).toBeLessThanOrEqual(VALID_KEYS * (minutes + 1) + fresh.length);
  expect(p99 - alone).toBeLessThan(Math.max(alone * SLOWER, SLOWER_MS));
});

it('failures that are not counted are caught', async () => {
  const { port } = await start(
    plantedBug('http/rate-limit/auth-failure-limit.js', 'module.AuthFailureLimit.prototype.count = () => Promise.resolve();'),
  );
  const [outcome] = (await load(port, { requests: KINDS.unknown, connections: 10, rate: PER_SECOND, seconds: 2 })) as [Outcome];
  expect(outcome.statuses).toBe(`401: ${2 * PER_SECOND}`);
});
