import { setTimeout as sleep } from 'node:timers/promises';
import { buildOnce } from '../../support/http/api-process.js';
import { reached } from '../../support/faults/promise.js';
import { Random } from '../../support/data/random.js';
import { TestRedis } from '../../support/worker/redis.js';
import { TestSmtp } from '../../support/worker/smtp.js';
import { OutboxFixture } from '../../support/worker/worker.js';
import { fixture } from '../../support/process/fixture.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';

/**
 * Promise 11: two workers never send the same row at once. Runs four workers on one Redis, then stops some (SIGSTOP) until
 * their leases have expired, and continues them. Takes about four minutes: a lease lasts 20 seconds.
 */
const MAILS = Number(process.env.MAILS ?? 5_000);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const WORKERS = 4;
/** Longer than a mail's lease. */
const PAUSE_MS = 30_000;
/**
 * A mail whose connection broke during the pause counts as attempted. It waits for the first retry (at most 72 s), then
 * for the next poll of the outbox (5 s).
 */
const TAKEN_UP_MS = 150_000;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const SENT = /"topic":"email","sent":(\d+)/g;

await buildOnce();
const redis = await fixture(TestRedis.start());
// The server keeps connections open longer than a pause, so that a continued worker finds its mail half sent.
const smtp = await fixture(TestSmtp.start({ socketTimeout: 600_000, logger: false }));
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url, REDIS_URL: redis.url }));

describe('four workers', () => {
  const workers: WorkerProcess[] = [];

  beforeAll(async () => {
    for (let count = 0; count < WORKERS; count++) workers.push(await WorkerProcess.start(room.settings));
  }, 240_000);
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
  });

  const queue = async (name: string, count: number) => {
    for (let from = 0; from < count; from += 500) {
      await room.queue(Array.from({ length: Math.min(500, count - from) }, (_, index) => `${name}${from + index}@example.org`));
    }
  };
  const allSent = (timeout: number) => vi.waitFor(async () => expect(Object.keys(await room.tally())).toEqual(['sent']), { timeout, interval: 250 });

  it(`send ${MAILS} mails, each exactly once`, async () => {
    const began = performance.now();
    await queue('plain', MAILS);
    await allSent(300_000);
    const seconds = (performance.now() - began) / 1000;
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    // Workers log how much they have sent once nothing is left.
    const shares = await vi.waitFor(() => {
      const logged = workers.map(({ output }) => sum([...output.matchAll(SENT)].map(([, count]) => Number(count))));
      expect(sum(logged)).toBe(MAILS);
      return logged;
    });
    reached(11, `${smtp.received.length} sends of ${MAILS} mails in ${seconds.toFixed(1)} s, by worker ${shares.join(' ')}`);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(smtp.received).toHaveLength(MAILS);
    expect(new Set(smtp.received.map(({ to }) => to)).size).toBe(MAILS);
  }, 600_000);

  it('stopped past their lease and continued send at most one mail twice per pause', async () => {
    process.stdout.write(`worker-pauses: seed ${SEED}\n`);
    const random = new Random(SEED);
    smtp.received.length = 0;
    smtp.atRecipient = () => ({ waitMs: random.integer(20) });
    smtp.atMessage = () => ({ waitMs: random.integer(20) });
    let pauses = 0;
    let landed = 0;
    let mails = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await queue(`round${round}-`, 1_000);
      mails += 1_000;
      // Stops three of the four while they work; the fourth takes over.
      for (const worker of workers.slice(1)) {
        await sleep(100 + random.integer(200));
        worker.signal('SIGSTOP');
        pauses++;
        const [held] = await room.make.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM outbox WHERE leased_by LIKE $1 AND status IN ('queued', 'failed')`,
          [worker.leases],
        );
        if (held!.n > 0) landed++;
      }
      await sleep(PAUSE_MS);
      for (const worker of workers) worker.signal('SIGCONT');
      await allSent(TAKEN_UP_MS);
    }
    // Gives continued workers time to send what they still hold.
    await sleep(10_000);
    const ids = new Map<string, Set<string>>();
    for (const { to, headers } of smtp.received) ids.set(to, (ids.get(to) ?? new Set()).add(headers['message-id']!));
    const duplicates = smtp.received.length - ids.size;
    reached(11, `${duplicates} duplicates in ${pauses} pauses, ${landed} of them with mails in hand`, SEED);
    expect(landed).toBeGreaterThanOrEqual(pauses / 2);
    expect(ids.size).toBe(mails);
    expect(duplicates).toBeLessThanOrEqual(landed);
    for (const [address, seen] of ids) expect(seen.size, address).toBe(1);
  }, 1_800_000);
});
