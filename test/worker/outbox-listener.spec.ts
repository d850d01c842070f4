import { setTimeout as sleep } from 'node:timers/promises';
import { QUEUES } from '@app/jobs';
import { percentile } from '../support/data/percentile.js';
import { OldPooler } from '../support/database/old-pooler.js';
import { inTest } from '../support/process/fixture.js';
import { TestRedis } from '../support/worker/redis.js';
import { TestSmtp } from '../support/worker/smtp.js';
import { OutboxFixture } from '../support/worker/worker.js';

/** Polling intervals (ms): one too long to be mistaken for a notification, one short enough to test polling. */
const SELDOM = 20_000;
const OFTEN = 500;

let smtp: TestSmtp;
let room: OutboxFixture;
let redis: TestRedis | null;
const usual = QUEUES.email.everyMs;

/** Several workers share a Redis; without one, there is one worker. */
async function open(mode: string, everyMs: number): Promise<void> {
  Object.assign(QUEUES.email, { everyMs });
  smtp = await TestSmtp.start();
  redis = mode === 'redis' ? await TestRedis.start() : null;
  room = await OutboxFixture.open({ SMTP_URL: smtp.url, ...(redis && { REDIS_URL: redis.url }) });
  for (let count = 0; count < workers(); count++) await (await room.worker()).init();
  await room.queue(['first@example.org']);
  await vi.waitFor(() => expect(smtp.to('first@example.org')).toHaveLength(1));
  await everybodyListens();
}

async function close(): Promise<void> {
  await room.stop();
  await redis?.stop();
  await smtp.stop();
  Object.assign(QUEUES.email, { everyMs: usual });
}

const workers = () => (redis ? 3 : 1);

async function everybodyListens(): Promise<void> {
  const listening = () =>
    room.make.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tutoring worker listener'
         AND state = 'idle' AND query ~ '^LISTEN|^SELECT 1'`,
    );
  await vi.waitFor(async () => expect(await listening()).toHaveLength(workers()));
}

describe.each(['timer', 'redis'])('a notification (%s)', { timeout: 12 * SELDOM }, (mode) => {
  beforeAll(() => open(mode, SELDOM));
  afterAll(close);

  let tries = 0;
  /** Longer than the pause after a failed attempt: on a machine that stands still for ten seconds, connections time out. */
  const arrives = async (name: string) => {
    const address = `${name}.${++tries}@example.org`;
    await room.queue([address]);
    const began = performance.now();
    await vi.waitFor(() => expect(smtp.to(address)).toHaveLength(1), { timeout: 5 * SELDOM, interval: 10 });
    return performance.now() - began;
  };

  it('wakes the worker at once, singly and in bursts, and each mail is sent once', async () => {
    const times: number[] = [];
    for (let round = 0; round < 11; round++) times.push(await arrives('single'));
    // The median, which polling alone could not reach.
    expect(percentile(times, 0.5)).toBeLessThan(SELDOM / 2);
    await Promise.all(Array.from({ length: 20 }, () => arrives('burst')));
    expect(new Set(smtp.received.map(({ to }) => to)).size).toBe(smtp.received.length);
  });

  it('is not sent for a write that was rolled back', async () => {
    const before = smtp.received.length;
    const failed = room.db.transaction({ organizationId: room.organizationId }, async () => {
      const from = { organizationId: room.organizationId, organization: { name: 'A', timeZone: 'UTC' } };
      await room.outbox.addEmails(from, [{ kind: 'parent_invite', to: 'never@example.org', firstName: null, role: 'parent', link: { url: 'x' } }]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await sleep(500);
    expect(smtp.received).toHaveLength(before);
  });

  it('arrives again after its connection was cut', async () => {
    const cut = await room.make.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'tutoring worker listener'`,
    );
    expect(cut).toHaveLength(workers());
    // Committed while nobody listens: the new connection starts by polling.
    await arrives('unheard');
    await everybodyListens();
    await arrives('heard');
  });

  if (mode === 'redis') {
    it('arrives after Redis was wiped or restarted', async () => {
      const client = redis!.client();
      await client.flushall();
      client.disconnect();
      await arrives('wiped');
      await redis!.kill();
      try {
        // A job that a worker has in hand ends, and would send this mail too.
        await sleep(300);
        await room.queue(['waiting@example.org']);
        await sleep(300);
        expect(smtp.to('waiting@example.org')).toHaveLength(0);
      } finally {
        await redis!.restart();
      }
      await vi.waitFor(() => expect(smtp.to('waiting@example.org')).toHaveLength(1), 3 * SELDOM);
      await arrives('restarted');
    });
  }
});

describe('a listener behind a pooler in transaction mode', () => {
  beforeAll(() => open('timer', OFTEN));
  afterAll(close);

  const warnings = () => room.logged.join('').match(/No notification arrives at [^"]+/g) ?? [];

  it('is warned of once, and mails are sent by polling', async () => {
    expect(warnings()).toEqual([]);
    await room.clear();
    const pooler = await inTest(OldPooler.open(room.database.workerUrl));
    await (await room.worker({ WORKER_LISTEN_URL: pooler.url })).init();
    await vi.waitFor(() => expect(warnings()).toHaveLength(1));
    expect(warnings()[0]).toMatch(/^No notification arrives at WORKER_LISTEN_URL, so .* set WORKER_LISTEN_URL to the address of PostgreSQL itself/);
    await room.queue(['polled@example.org']);
    await vi.waitFor(() => expect(smtp.to('polled@example.org')).toHaveLength(1));
    expect(room.logged.join('')).not.toContain('outbox_not_listened');
    expect(warnings()).toHaveLength(1);
  });
});

describe.each(['timer', 'redis'])('a mail of a crashed worker (%s)', (mode) => {
  beforeAll(() => open(mode, OFTEN));
  afterAll(close);

  it('is sent without a notification once its lease expires', async () => {
    const [{ id } = { id: '' }] = await room.make.query<{ id: string }>(
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload, leased_by, leased_until, due_at, attempts)
       SELECT gen_random_uuid(), organization_id, topic, kind, 'orphan@example.org', payload, 'gone',
         now() + interval '1 second', now() + interval '1 second', 1
       FROM outbox WHERE recipient = 'first@example.org' RETURNING id`,
    );
    await vi.waitFor(() => expect(smtp.to('orphan@example.org')).toHaveLength(1));
    await vi.waitFor(async () => expect(await room.rows(`id = '${id}'`)).toMatchObject([{ status: 'sent', attempts: 2 }]));
  });
});
