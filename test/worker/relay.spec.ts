import { EmailCourier } from '../../apps/worker/src/email/email.courier.js';
import { EmailService } from '../../apps/worker/src/email/email.service.js';
import { TimedMutex, HOLD_MS } from '../../apps/worker/src/email/timed-mutex.js';
import { Lease } from '../../apps/worker/src/outbox/lease.js';
import { OutboxStore } from '../../apps/worker/src/outbox/outbox.store.js';
import { fixture } from '../support/process/fixture.js';
import { TestSmtp } from '../support/worker/smtp.js';
import { OutboxFixture } from '../support/worker/worker.js';

const addresses = (count: number) => Array.from({ length: count }, (_, index) => `person${index}@example.org`);

const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url }));

describe('the relay', () => {
  afterEach(async () => {
    await room.clear();
    smtp.received.length = smtp.asked.length = 0;
    smtp.atRecipient = smtp.atMessage = () => undefined;
  });

  it('sends 600 messages exactly once with two workers, which share the work', async () => {
    await room.queue(addresses(600));
    const workers = [await room.worker(), await room.worker()];
    const drained = await Promise.all(workers.map((worker) => worker.get(EmailService).runOnce()));
    expect(drained.map(({ sent }) => sent! > 30)).toEqual([true, true]);
    expect(drained.reduce((sum, { sent }) => sum + sent!, 0)).toBe(600);
    expect(smtp.received).toHaveLength(600);
    expect(new Set(smtp.received.map(({ to }) => to)).size).toBe(600);
    expect(await room.tally()).toEqual({ sent: 600 });
  });

  it('runs one drain at a time: concurrent callers share it', async () => {
    smtp.atMessage = () => ({ waitMs: 200 });
    await room.queue(addresses(3));
    const emails = (await room.worker()).get(EmailService);
    const [first, second] = [emails.runOnce(), emails.runOnce()];
    expect(await first).toBe(await second);
    expect(smtp.received).toHaveLength(3);
    expect(await emails.runOnce()).toEqual({});
  });

  it('takes over a crashed worker’s messages only after its lease expires', async () => {
    await room.queue(addresses(5));
    await room.make.query(`SELECT claim_outbox('email', 'gone', 10, interval '20 seconds') FROM generate_series(1, 3)`);
    const emails = (await room.worker()).get(EmailService);
    expect(await emails.runOnce()).toEqual({ sent: 2 });
    await room.pass('10 seconds');
    expect(await emails.runOnce()).toEqual({});
    await room.pass('11 seconds');
    expect(await emails.runOnce()).toEqual({ sent: 3 });
    expect((await room.rows()).map(({ attempts }) => attempts).sort()).toEqual([1, 1, 2, 2, 2]);
  });

  it('does not send the content of a mail after its lease expired', async () => {
    await room.queue(addresses(1));
    const worker = await room.worker();
    const message = await worker.get(OutboxStore).claim('email', 10, 20_000);
    // The server answers so late that the lease has expired, as after a pause of the process.
    smtp.atRecipient = () => ({ waitMs: 400 });
    const courier = worker.get(EmailCourier);
    const late = { ...message!, lease: new Lease(message!.lease.holder, 1_200) };
    expect(await courier.deliver(late, new AbortController().signal)).toMatchObject({ status: 'lost' });
    expect(smtp.received).toHaveLength(0);
    expect(await courier.deliver(message!, new AbortController().signal)).toMatchObject({ status: 'sent' });
    expect(smtp.received).toHaveLength(1);
  });

  it('renews the lease of a slow mail, so that no other worker sends it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    try {
      let accept: () => void = () => undefined;
      const accepted = new Promise<void>((resolve) => (accept = resolve));
      const worker = await room.worker();
      const store = worker.get(OutboxStore);
      const renew = vi.spyOn(store, 'renew');
      let begin: () => void = () => undefined;
      const leased = new Promise<void>((resolve) => (begin = resolve));
      vi.spyOn(worker.get(EmailCourier), 'deliver').mockImplementation(async () => {
        begin();
        await accepted;
        return { status: 'sent' };
      });
      await room.queue(addresses(1));
      const draining = worker.get(EmailService).runOnce();
      await leased;
      const other = (await room.worker()).get(EmailService);
      // More than half of the lease passes twice, with a renewal in between.
      for (let times = 1; times <= 2; times++) {
        await room.pass('12 seconds');
        expect(await other.runOnce()).toEqual({});
        vi.advanceTimersByTime(5_000);
        expect(renew).toHaveBeenCalledTimes(times);
        await Promise.all(renew.mock.results.map(({ value }) => value as Promise<void>));
      }
      accept();
      expect(await draining).toEqual({ sent: 1 });
      expect(await room.rows()).toMatchObject([{ status: 'sent', attempts: 1 }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('renews a lease only if no other worker has taken it', async () => {
    await room.queue(addresses(1));
    const store = (await room.worker()).get(OutboxStore);
    const first = (await store.claim('email', 10, 20_000))!;
    await room.pass('21 seconds');
    await store.renew(first);
    expect(await store.claim('email', 10, 20_000)).toBeNull();
    await room.pass('21 seconds');
    const second = (await store.claim('email', 10, 20_000))!;
    const left = first.lease.leftMs;
    await store.renew(first);
    expect(first.lease.leftMs).toBeLessThanOrEqual(left);
    expect(await store.finish(second, 'sent', null, null)).toBe(true);
  });

  it('sends a mail once if its second attempt succeeds while the first still hangs', async () => {
    const tries = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const [first, second] = tries.map(({ promise }) => promise);
    smtp.atMessage = () => {
      const next = tries.shift()!;
      next.resolve(undefined);
      // The first attempt ends while the second is in progress.
      return tries.length === 1 ? { until: second, code: 451 } : { waitMs: 300 };
    };
    await room.queue(addresses(1));
    const draining = (await room.worker()).get(EmailService).runOnce();
    await first;
    await room.pass('21 seconds');
    expect(await draining).toEqual({ sent: 1, lost: 1 });
    expect(await room.rows()).toMatchObject([{ status: 'sent', attempts: 2, last_error: null }]);
    expect(smtp.received).toHaveLength(1);
  });

  it('retries a failed commit without sending a mail twice', async () => {
    await room.queue(addresses(3));
    const worker = await room.worker();
    const finish = vi.spyOn(worker.get(OutboxStore), 'finish');
    for (let times = 0; times < 5; times++) finish.mockRejectedValueOnce(new Error('the database is away'));
    expect(await worker.get(EmailService).runOnce()).toEqual({ sent: 3 });
    expect(smtp.received).toHaveLength(3);
    expect(finish).toHaveBeenCalledTimes(8);
  });

  it('shuts down in order: finishes what it has started, releases the rest and starts nothing more', async () => {
    const begun = Promise.withResolvers<undefined>();
    const ending = Promise.withResolvers<undefined>();
    smtp.atMessage = () => {
      begun.resolve(undefined);
      return { until: ending.promise };
    };
    await room.queue(addresses(50));
    const worker = await room.worker();
    const draining = worker.get(EmailService).runOnce();
    await begun.promise;
    const closed = worker.close();
    ending.resolve(undefined);
    await closed;
    const { sent = 0 } = await draining;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(50);
    expect(smtp.received).toHaveLength(sent);
    expect(await room.rows('leased_by IS NOT NULL')).toEqual([]);
    expect(await room.rows(`status = 'queued' AND attempts = 0 AND due_at <= now()`)).toHaveLength(50 - sent);
  });

  it('sends messages committed during a drain, even while another stalls', async () => {
    const stalled = Promise.withResolvers<undefined>();
    const quick = smtp.taken(1, 'quick');
    smtp.atMessage = (address) => {
      if (!address.startsWith('slow')) return undefined;
      stalled.resolve(undefined);
      return { until: quick };
    };
    await room.queue(['slow@example.org']);
    const draining = (await room.worker()).get(EmailService).runOnce();
    await stalled.promise;
    await room.queue(['quick@example.org']);
    expect(await draining).toEqual({ sent: 2 });
  });

  it('leaves lanes for whoever has no mail under way while another organization’s stall', async () => {
    const { id: organizationId } = await room.make.organization();
    const others = smtp.taken(2, 'quick');
    smtp.atRecipient = (address) => (address.startsWith('slow') ? { until: others } : undefined);
    await room.queue(Array.from({ length: 30 }, (_, index) => `slow${index}@example.org`));
    const draining = (await room.worker()).get(EmailService).runOnce();
    // All lanes but two.
    await vi.waitFor(() => expect(smtp.asked).toHaveLength(8));
    await room.queue(['quick-first@example.org', 'quick-second@example.org'], { organizationId });
    expect(await draining).toEqual({ sent: 32 });
    expect(smtp.received.slice(0, 2).map(({ to }) => to)).toEqual(['quick-first@example.org', 'quick-second@example.org']);
  });
});

describe('the mutex', () => {
  it('admits the next one if a holder keeps it too long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const mutex = new TimedMutex();
      await mutex.acquire();
      let inside = false;
      const next = mutex.acquire().then((leave) => {
        inside = true;
        leave();
      });
      await vi.advanceTimersByTimeAsync(HOLD_MS - 1);
      expect(inside).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(inside).toBe(true);
      await next;
      // A holder that leaves admits the next one at once.
      await mutex.acquire();
    } finally {
      vi.useRealTimers();
    }
  });
});
