import { JITTER, PAUSES_MINUTES, TRIES } from '../../../apps/worker/src/outbox/schedule.js';
import { buildOnce } from '../../support/http/api-process.js';
import { results, runCli } from '../../support/process/cli.js';
import { percentile } from '../../support/data/percentile.js';
import { TestSmtp } from '../../support/worker/smtp.js';
import { OutboxFixture } from '../../support/worker/worker.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';
import { reached } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

/**
 * Promise 10: slow or broken SMTP delays no other mail. Retry pauses are skipped by shifting times; stalls are real. Takes
 * about two minutes.
 */
const ORDINARY = 200;
const P95_MS = 60_000;
const STALL_MS = 30_000;
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}@example.org`);

await buildOnce();
const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url }));

describe('a mail server that misbehaves', () => {
  let worker: WorkerProcess;

  beforeAll(async () => {
    worker = await WorkerProcess.start(room.settings);
  }, 240_000);
  afterAll(() => worker.kill());

  /** Wakes the worker without a new mail. */
  const nudge = () => room.make.query(`SELECT pg_notify('outbox', 'email')`);
  const asOperator = () => ({ ...room.settings, MIGRATION_DATABASE_URL: room.database.ownerUrl });

  it('delays no other mail; mails it never accepts are dead after eight tries, listed, and can be replayed', async () => {
    smtp.atRecipient = (address) =>
      address.startsWith('never') ? { code: 450, message: 'not yet' }
      : address.startsWith('stalling') ? { waitMs: STALL_MS }
      : undefined; // prettier-ignore
    smtp.atMessage = (address) => (address.startsWith('poison') ? { code: 554, message: 'cannot be read' } : undefined);
    // The troublesome mails come first: five rejected, one deferred for ever, six stalled for half a minute.
    await room.queue([...numbered('poison', 5), ...numbered('never', 1), ...numbered('stalling', 6)]);
    const began = Date.now();
    await room.queue(numbered('ordinary', ORDINARY));
    await vi.waitFor(() => expect(smtp.received.filter(({ to }) => to.startsWith('ordinary'))).toHaveLength(ORDINARY), {
      timeout: 120_000,
      interval: 100,
    });
    const times = smtp.received.filter(({ to }) => to.startsWith('ordinary')).map(({ at }) => at - began);
    const p95 = percentile(times, 0.95);
    reached(10, `p95 ${p95} ms, last ${Math.max(...times)} ms of ${times.length} ordinary mails`);
    expect(p95).toBeLessThanOrEqual(P95_MS);
    // Stalled mails are accepted in the end, once: the worker did not hang up.
    await vi.waitFor(async () => expect((await room.tally()).sent).toBe(ORDINARY + 6), { timeout: 60_000 });
    expect(smtp.received).toHaveLength(ORDINARY + 6);

    const pauses: number[][] = [];
    for (let attempt = 1; attempt < TRIES; attempt++) {
      await vi.waitFor(async () => expect(await room.rows(`status = 'failed' AND attempts = ${attempt} AND leased_by IS NULL`)).toHaveLength(6), {
        timeout: 60_000,
      });
      const rows = await room.make.query<{ minutes: string }>(
        `SELECT extract(epoch FROM due_at - now()) / 60 AS minutes FROM outbox WHERE status = 'failed'`,
      );
      pauses.push(rows.map(({ minutes }) => Number(minutes)));
      await room.pass('1 day');
      await nudge();
    }
    for (const [index, minutes] of PAUSES_MINUTES.entries()) {
      for (const pause of pauses[index]!) {
        // Some time has passed since the attempt.
        expect(pause).toBeGreaterThan(minutes * (1 - JITTER) - 1);
        expect(pause).toBeLessThanOrEqual(minutes * (1 + JITTER));
      }
    }
    await vi.waitFor(async () => expect(await room.tally()).toEqual({ sent: ORDINARY + 6, dead: 6 }), { timeout: 60_000 });

    const listed = results((await runCli(['--json', 'outbox', 'list', '--status', 'dead'], asOperator())).stdout);
    expect(listed).toHaveLength(6);
    expect(listed.every(({ attempts }) => attempts === TRIES)).toBe(true);
    expect(listed.map(({ last_error }) => last_error).sort()[5]).toContain('554');
    smtp.atRecipient = smtp.atMessage = () => undefined;
    for (const { id } of listed) {
      expect(await runCli(['outbox', 'retry', id as string], asOperator())).toMatchObject({ code: 0 });
    }
    await nudge();
    await vi.waitFor(async () => expect(await room.tally()).toEqual({ sent: ORDINARY + 12 }), { timeout: 60_000 });
    expect(smtp.received).toHaveLength(ORDINARY + 12);
  }, 600_000);
});
