import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeys } from '@app/access';
import { loadEnv } from '@app/config';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { percentile } from '../../support/data/percentile.js';
import { Random } from '../../support/data/random.js';
import { TestRedis } from '../../support/worker/redis.js';
import { TestSmtp } from '../../support/worker/smtp.js';
import { OutboxFixture } from '../../support/worker/worker.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';
import { reached } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

/**
 * Promise 9: Redis may vanish. Sends 500 invites through the built API with two workers, while Redis is wiped ten times
 * and is then down for a minute. Takes about three minutes.
 */
const INVITES = Number(process.env.INVITES ?? 500);
const FLUSHES = 10;
const OUTAGE_MS = Number(process.env.OUTAGE_MS ?? 60_000);
const SENT_WITHIN_MS = 120_000;
/** Noise (ms). A request that waited for Redis would take much longer: the full timeout. */
const NOISE_MS = 50;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

await buildOnce();
const redis = await fixture(TestRedis.start());
const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url, REDIS_URL: redis.url }));

describe('a Redis that vanishes', () => {
  let api: ApiProcess;
  let key: string;
  const workers: WorkerProcess[] = [];
  let invited = 0;

  beforeAll(async () => {
    const rules = await rulesOn(room.db, loadEnv(room.settings, {}));
    const { key: made } = await rules.get(ApiKeys).create(room.organizationId, {
      name: 'faults',
      scopes: ['accounts:write'],
    });
    key = made;
    api = await ApiProcess.start(room.settings);
    for (let count = 0; count < 2; count++) workers.push(await WorkerProcess.start(room.settings));
  }, 240_000);
  afterAll(async () => {
    await Promise.all([api.stop(), ...workers.map((worker) => worker.kill())]);
  });

  /** Sends invites at an even rate. @returns how long each took (ms) */
  async function invite(count: number, overMs: number): Promise<number[]> {
    const times: number[] = [];
    const running: Promise<void>[] = [];
    for (let done = 0; done < count; done++) {
      const email = `invited${invited++}@example.org`;
      running.push(
        (async () => {
          const began = performance.now();
          const response = await fetch(`http://127.0.0.1:${api.port}/v1/invites`, {
            method: 'POST',
            headers: { Authorization: `Token token=${key}`, 'Content-Type': 'application/json' },
            body: JSON.stringify({ scope: 'organization', email }),
          });
          await response.text();
          times.push(performance.now() - began);
          expect(response.status).toBe(201);
        })(),
      );
      await sleep(overMs / count);
    }
    await Promise.all(running);
    return times;
  }
  const p99 = (times: number[]) => percentile(times, 0.99);
  const allSent = (timeout: number) => vi.waitFor(async () => expect(await room.tally()).toEqual({ sent: invited }), { timeout, interval: 250 });

  it('loses nothing, delays no request, and everything is sent soon after it returns', async () => {
    process.stdout.write(`worker-redis: seed ${SEED}\n`);
    const random = new Random(SEED);
    const share = Math.round(INVITES * 0.2);
    await invite(share / 2, 2_000);
    const normal = await invite(share, 8_000);
    await allSent(90_000);

    const client = redis.client();
    let wiped = 0;
    const flushing = (async () => {
      for (; wiped < FLUSHES; wiped++) {
        await sleep(200 + random.integer(1_000));
        await client.flushall();
      }
    })();
    const during = await invite(share, 10_000);
    await flushing;
    client.disconnect();

    await redis.kill();
    const sentBefore = smtp.received.length;
    const away = await invite(INVITES - invited, OUTAGE_MS);
    const sentAway = smtp.received.length - sentBefore;
    await redis.restart();
    const back = Date.now();
    await allSent(SENT_WITHIN_MS);
    reached(
      9,
      `${wiped} wipes, ${away.length} invites in an outage of ${OUTAGE_MS / 1000} s (${sentAway} sent in it), ` +
        `p99 ${p99(normal).toFixed(1)} / ${p99(during).toFixed(1)} / ${p99(away).toFixed(1)} ms, ` +
        `longest ${Math.max(...away).toFixed(1)} ms, all sent ${Date.now() - back} ms after`,
      SEED,
    );
    expect(invited).toBe(INVITES);
    expect(new Set(smtp.received.map(({ to }) => to)).size).toBe(INVITES);
    expect(smtp.received).toHaveLength(INVITES);
    expect(p99(away)).toBeLessThanOrEqual(2 * p99(normal) + NOISE_MS);
    expect(api.ended).toBeNull();
    // Proves that the outage was real: workers get their jobs through Redis.
    expect(sentAway).toBeLessThan(away.length);
  }, 600_000);
});
