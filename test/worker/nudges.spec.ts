import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../support/percentile.js';
import { TestRedis } from '../support/redis.js';
import { TestSmtp } from '../support/smtp.js';
import { Mailroom } from '../support/worker.js';

/** Half of the mails have to be at the server so soon after their commit (ms), as no cadence would have it. */
const PROMISE_MS = 1_000;
const AT_MOST_MS = 10_000;

describe.each(['timer', 'redis'])('a nudge (%s)', (mode) => {
  let smtp: TestSmtp;
  let room: Mailroom;
  let redis: TestRedis | null = null;

  beforeAll(async () => {
    smtp = await TestSmtp.start();
    redis = mode === 'redis' ? await TestRedis.start() : null;
    room = await Mailroom.open({ SMTP_URL: smtp.url, ...(redis && { REDIS_URL: redis.url }) });
    // With Redis several workers share; without, there is one.
    for (let count = 0; count < (redis ? 3 : 1); count++) await (await room.worker()).init();
    await room.queue(['first@example.org']);
    await vi.waitFor(() => expect(smtp.to('first@example.org')).toHaveLength(1), { timeout: 10_000 });
    // What the start does by itself is over.
    await sleep(500);
  });
  afterAll(async () => {
    await room.stop();
    await redis?.stop();
    await smtp.stop();
  });

  const arrives = async (address: string) => {
    await room.queue([address]);
    const began = performance.now();
    await vi.waitFor(() => expect(smtp.to(address)).toHaveLength(1), { timeout: 20_000, interval: 10 });
    return performance.now() - began;
  };

  it('reaches the worker at once, one after the other and many together, and each mail goes once', async () => {
    const times: number[] = [];
    for (let round = 0; round < 11; round++) times.push(await arrives(`single${round}@example.org`));
    expect(percentile(times, 0.5)).toBeLessThan(PROMISE_MS);
    const burst = await Promise.all(Array.from({ length: 20 }, (_, index) => arrives(`burst${index}@example.org`)));
    expect(Math.max(...times, ...burst)).toBeLessThan(AT_MOST_MS);
    expect(new Set(smtp.received.map(({ to }) => to)).size).toBe(smtp.received.length);
  });

  it('says nothing of a write that was rolled back, and nothing is sent', async () => {
    const before = smtp.received.length;
    const failed = room.db.transaction({ organizationId: room.organizationId }, async () => {
      await room.outbox.addEmails(room.organizationId, [
        {
          kind: 'parent_invite',
          to: 'never@example.org',
          inviteId: null,
          payload: {
            organizationName: 'A',
            firstName: null,
            role: 'parent',
            joinUrl: 'x',
            proof: null,
            expiresAt: '2100-01-01',
            timeZone: 'UTC',
          },
        },
      ]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await sleep(500);
    expect(smtp.received).toHaveLength(before);
  });

  it('is not needed for a mail whose worker is gone: it goes out when its lease is over', async () => {
    const [{ id } = { id: '' }] = await room.make.query<{ id: string }>(
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload, leased_by, leased_until, due_at, attempts)
       SELECT gen_random_uuid(), organization_id, topic, kind, 'orphan@example.org', payload, 'gone',
         now() + interval '1 second', now() + interval '1 second', 1
       FROM outbox WHERE recipient = 'first@example.org' RETURNING id`,
    );
    await vi.waitFor(() => expect(smtp.to('orphan@example.org')).toHaveLength(1), { timeout: 20_000 });
    await vi.waitFor(async () =>
      expect(await room.rows(`id = '${id}'`)).toMatchObject([{ status: 'sent', attempts: 2 }]),
    );
  });

  it('comes through again after the connection that it came over was cut', async () => {
    const cut = await room.make.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'tutoring worker nudges'`,
    );
    expect(cut).toHaveLength(redis ? 3 : 1);
    // Committed while nobody listens: the new connection begins with a look.
    expect(await arrives('unheard@example.org')).toBeLessThan(AT_MOST_MS);
    await sleep(1_500);
    expect(await arrives('heard@example.org')).toBeLessThan(AT_MOST_MS);
  });

  if (mode === 'redis') {
    it('comes through when Redis was wiped or restarted meanwhile', async () => {
      const client = redis!.client();
      await client.flushall();
      client.disconnect();
      expect(await arrives('wiped@example.org')).toBeLessThan(AT_MOST_MS);
      await redis!.kill();
      await room.queue(['waiting@example.org']);
      await sleep(300);
      expect(smtp.to('waiting@example.org')).toHaveLength(0);
      await redis!.restart();
      await vi.waitFor(() => expect(smtp.to('waiting@example.org')).toHaveLength(1), { timeout: AT_MOST_MS });
      expect(await arrives('restarted@example.org')).toBeLessThan(AT_MOST_MS);
    });
  }
});
