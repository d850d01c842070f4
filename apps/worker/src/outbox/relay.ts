import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@app/logging';
import type { Courier, Outcome } from './courier.js';
import type { Claimed, FinalStatus, OutboxStore } from './outbox.store.js';
import { pauseAfter, triesOf } from './schedule.js';

export interface DrainOptions {
  concurrency: number;
  deadlineMs: number;
  /** The duration of a lease (ms), renewed during the attempt: a killed worker's messages wait for it. */
  leaseMs: number;
}

/** The number of messages that a drain handled, by outcome. */
export type Drained = Partial<Record<FinalStatus | 'lost', number>>;

/** A lease is renewed this often while it holds: three renewals may fail before it is lost. */
const RENEWALS_PER_LEASE = 4;

/** How often to look for newly due messages during a drain, unless it is woken (ms). */
const LOOK_AGAIN_MS = 1_000;

/**
 * How long after the last message to look once more (ms): who adds to a turn that is there wakes nobody, and may be about to
 * commit.
 */
const LOOK_ONCE_MORE_MS = 50;

/** How often to retry storing an outcome while the database is unavailable, and for how long (ms). */
const COMMIT_PAUSE_MS = 250;
const COMMIT_PATIENCE_MS = 5 * 60_000;

/** How long a stop waits for attempts in progress (ms), well within the ten seconds before a process is killed. */
const STOP_GRACE_MS = 6_000;

/** Drains one topic of the outbox, several messages at a time. The claim decides whose is next, and leaves lanes for other owners. */
export class Relay {
  private draining: Promise<Drained> | null = null;
  /** Aborted when there may be a message that the last claim did not find. */
  private pause = new AbortController();
  private readonly tries = new Set<AbortController>();
  /** Consecutive attempts that could not reach the server. */
  private unreachable = 0;
  private stopped = false;

  constructor(
    private readonly store: OutboxStore,
    private readonly courier: Courier,
    private readonly options: DrainOptions,
    private readonly log: Log,
  ) {}

  /** Runs until nothing is due. A call during a drain returns that drain. */
  drain(): Promise<Drained> {
    this.draining ??= this.run().finally(() => (this.draining = null));
    return this.draining;
  }

  /** Makes a running drain look for messages at once. */
  wake(): void {
    this.pause.abort();
  }

  /** Starts no more attempts, gives running ones a moment to finish, and returns the rest to the outbox. */
  async stop(): Promise<void> {
    this.stopped = true;
    const timer = setTimeout(() => {
      for (const controller of this.tries) controller.abort();
    }, STOP_GRACE_MS);
    await this.draining;
    clearTimeout(timer);
  }

  private async run(): Promise<Drained> {
    const drained: Drained = {};
    const running = new Set<Promise<void>>();
    let [claimed, last] = [0, true];
    for (;;) {
      this.pause = new AbortController();
      const { signal } = this.pause;
      const message = await this.claim(claimed, this.options.concurrency - running.size);
      if (message) {
        claimed++;
        last = false;
        const attempt = (this.stopped ? this.release(message) : this.attempt(message)).then((status) => {
          drained[status] = (drained[status] ?? 0) + 1;
          running.delete(attempt);
          this.wake();
        });
        running.add(attempt);
      } else if (running.size > 0 || signal.aborted) {
        await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      } else if (last || this.stopped) break;
      else {
        last = true;
        await sleep(LOOK_ONCE_MORE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    if (Object.keys(drained).length > 0)
      this.log.pino.info({ topic: this.courier.topic, ...drained }, 'outbox drained');
    return drained;
  }

  /** @param claimed how many messages this drain has claimed */
  private async claim(claimed: number, lanes: number): Promise<Claimed | null> {
    // While the server is down, one attempt per drain is enough to detect that it is back.
    const down = this.unreachable >= this.options.concurrency;
    if (this.stopped || lanes === 0 || (down && claimed > 0)) return null;
    const { topic } = this.courier;
    const claim = this.claimOrRefill(topic, lanes);
    const message = await claim.catch((error: unknown) => {
      this.log.failure(error, null, 'outbox_not_claimed');
      return undefined;
    });
    const beat = this.store.beat(topic, message !== undefined);
    await beat.catch((error: unknown) => this.log.failure(error, null, 'heartbeat_not_written'));
    return message ?? null;
  }

  private async claimOrRefill(topic: Courier['topic'], lanes: number): Promise<Claimed | null> {
    await this.courier.refill?.(false);
    for (;;) {
      const message = await this.store.claim(topic, lanes, this.options.leaseMs);
      if (message || !(await this.courier.refill?.(true))) return message;
    }
  }

  private async attempt(message: Claimed): Promise<FinalStatus | 'lost'> {
    if (message.settled) return message.settled;
    const controller = new AbortController();
    this.tries.add(controller);
    const deadline = setTimeout(() => controller.abort(), this.options.deadlineMs);
    const renewal = setInterval(() => void this.renew(message), this.options.leaseMs / RENEWALS_PER_LEASE);
    try {
      const outcome = await this.deliver(message, controller.signal);
      const { status } = outcome;
      this.unreachable = status === 'failed' && outcome.unreachable ? this.unreachable + 1 : 0;
      // An attempt that this process interrupted has not failed.
      const interrupted = status === 'failed' && controller.signal.aborted && this.stopped;
      if (!interrupted) return await this.settle(message, outcome);
      outcome.after?.();
      return await this.release(message);
    } finally {
      clearTimeout(deadline);
      clearInterval(renewal);
      this.tries.delete(controller);
    }
  }

  /** A courier that throws has a bug. The message is retried like any other. */
  private async deliver(message: Claimed, signal: AbortSignal): Promise<Outcome> {
    try {
      return await this.courier.deliver(message, signal);
    } catch (error) {
      this.log.failure(error, null, `${this.courier.topic}_courier_failed`);
      return { status: 'failed', problem: 'internal_error' };
    }
  }

  private async renew(message: Claimed): Promise<void> {
    await this.store.renew(message).catch((error: unknown) => this.log.failure(error, null, 'outbox_not_renewed'));
  }

  /** If the database is unavailable, the lease's expiry releases the message. */
  private async release(message: Claimed): Promise<'lost'> {
    await this.store.release(message).catch((error: unknown) => this.log.failure(error, null, 'outbox_not_released'));
    return 'lost';
  }

  private async settle(message: Claimed, outcome: Outcome): Promise<FinalStatus | 'lost'> {
    try {
      if (outcome.status === 'lost') return 'lost';
      const { id, attempts, kind } = message;
      const failed = outcome.status === 'failed';
      const status = failed && attempts >= triesOf(kind, this.courier.pauses) ? 'dead' : outcome.status;
      const note = outcome.status === 'sent' ? (outcome.note ?? null) : outcome.problem;
      const least = failed ? (outcome.notBeforeMs ?? 0) : 0;
      const again =
        status === 'failed' ? Math.max(pauseAfter(attempts, Math.random(), this.courier.pauses), least) : null;
      const commit = () => this.store.finish(message, status, note, again, outcome.answer);
      if (!(await this.commit(commit))) return 'lost';
      if (failed) this.log.pino.warn({ message: id, kind, attempts, status, problem: note }, 'outbox try failed');
      return status;
    } finally {
      outcome.after?.();
    }
  }

  /** Retries while the database is unavailable: without its stored outcome a message would be sent again. */
  private async commit(finish: () => Promise<boolean>): Promise<boolean> {
    const giveUpAt = performance.now() + COMMIT_PATIENCE_MS;
    for (;;) {
      try {
        return await finish();
      } catch (error) {
        this.log.failure(error, null, 'outbox_not_committed');
        if (this.stopped || performance.now() > giveUpAt) return false;
        await sleep(COMMIT_PAUSE_MS);
      }
    }
  }
}
