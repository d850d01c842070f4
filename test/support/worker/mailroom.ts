import { buildOnce } from '../http/api-process.js';
import { TestRedis } from './redis.js';
import { TestSmtp } from './smtp.js';
import { OutboxFixture } from './worker.js';
import { WorkerProcess } from './worker-process.js';

export const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}@example.org`);

/** Mails, worker processes that send them, and what these need. */
export class Mailroom {
  readonly workers: WorkerProcess[] = [];

  private constructor(
    readonly smtp: TestSmtp,
    readonly redis: TestRedis | null,
    readonly outbox: OutboxFixture,
  ) {}

  static async open(withRedis = false): Promise<Mailroom> {
    await buildOnce();
    // Keeps connections open longer than any fault lasts, so that a continued worker finds its mail half sent.
    const smtp = await TestSmtp.start({ socketTimeout: 600_000, logger: false });
    const redis = withRedis ? await TestRedis.start() : null;
    return new Mailroom(smtp, redis, await OutboxFixture.open({ SMTP_URL: smtp.url, ...(redis && { REDIS_URL: redis.url }) }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.kill()));
    await this.outbox.stop();
    await this.redis?.stop();
    await this.smtp.stop();
  }

  /** Starts a worker. */
  async hire(): Promise<WorkerProcess> {
    const worker = await WorkerProcess.start(this.outbox.settings);
    this.workers.push(worker);
    return worker;
  }

  /** Queues so many mails. @returns their addresses */
  async queue(name: string, count: number): Promise<string[]> {
    const addresses = numbered(name, count);
    for (let from = 0; from < count; from += 500) await this.outbox.queue(addresses.slice(from, from + 500));
    return addresses;
  }

  /** Wakes workers without a new mail. */
  async nudge(): Promise<void> {
    await this.outbox.make.query(`SELECT pg_notify('outbox', 'email')`);
  }

  /** Waits until the outbox has come to this. */
  async becomes(tally: Record<string, number>, timeout: number): Promise<void> {
    await vi.waitFor(async () => expect(await this.outbox.tally()).toEqual(tally), { timeout, interval: 250 });
  }

  /** How many unsent mails the worker has leased. */
  async leasedBy({ leases }: WorkerProcess): Promise<number> {
    return (await this.outbox.rows(`leased_by LIKE '${leases}' AND status IN ('queued', 'failed')`)).length;
  }

  /** What has arrived of these mails, and nothing else may have. */
  arrived(addresses: string[]) {
    const ids = new Map<string, Set<string>>();
    for (const { to, headers } of this.smtp.received) ids.set(to, (ids.get(to) ?? new Set()).add(headers['message-id']!));
    const wanted = new Set(addresses);
    return {
      lost: addresses.filter((address) => !ids.has(address)).length,
      doubled: this.smtp.received.length - ids.size,
      /** Sent to nobody who was to get one, or twice as different mails. */
      wrong: [...ids].filter(([address, all]) => !wanted.has(address) || all.size > 1).map(([address]) => address),
    };
  }
}
