import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboxMessage } from '@app/database';
import type { Problem } from '@app/jobs';
import type { Log } from '@app/logging';
import type { Claimed, FinalStatus, OutboxStore } from './outbox.store.js';
import { pauseAfter, TRIES } from './schedule.js';

/** How a try ended. */
export type Outcome = {
  /** Runs once the outcome is committed, or given up on. */
  after?: () => void;
} & (
  | { status: 'sent'; note?: Problem }
  | { status: 'suppressed'; problem: Problem }
  /** `unreachable`: nothing can be sent at the moment, the message itself is not to blame. */
  | { status: 'failed'; problem: Problem; unreachable?: boolean }
  /** It was claimed again, or will be: not for this try to say how it ended. */
  | { status: 'lost' }
);

/** Carries messages of one topic to where they go. */
export interface Courier {
  readonly topic: OutboxMessage['topic'];
  /** Messages that are not tried at all, with how they end instead. */
  screen?(messages: Claimed[]): Promise<Map<string, Outcome>>;
  /** @param signal aborts what takes too long; the try has failed then */
  deliver(message: Claimed, signal: AbortSignal): Promise<Outcome>;
}

/** How a topic is drained. */
export interface Pace {
  /** Tries at the same time. */
  concurrency: number;
  /** Messages claimed at once. Few: those in hand wait for the lease when this process dies. */
  batch: number;
  /** When a try is given up (ms). */
  deadlineMs: number;
  /** How long a claim holds (ms): a wait in hand, a whole try and its commit fit in. */
  leaseMs: number;
}

/** What a drain did, by outcome. */
export type Drained = Partial<Record<FinalStatus | 'lost', number>>;

/** A message whose commit fails (the database is away) is committed later, as long as it takes; then this much later (ms). */
const COMMIT_PAUSE_MS = 250;

/** While something is under way, how often to look for what has become due meanwhile (ms). */
const LOOK_AGAIN_MS = 1_000;

/** What a stop waits for tries under way (ms), well within the ten seconds that a process is given to end. */
const STOP_GRACE_MS = 6_000;

/**
 * Empties one topic of the outbox: claims, tries, says how it ended. A message is in the hands of one claim at a time, and
 * one that fails, stalls or is lost keeps none of the others.
 */
export class Relay {
  private draining: Promise<Drained> | null = null;
  private readonly tries = new Set<AbortController>();
  private rung = false;
  private ring: () => void = () => undefined;
  private stopped = false;

  constructor(
    private readonly store: OutboxStore,
    private readonly courier: Courier,
    private readonly pace: Pace,
    private readonly log: Log,
  ) {}

  /** Runs until nothing is due. Never twice at once: who asks meanwhile gets the drain that runs. */
  drain(): Promise<Drained> {
    this.draining ??= this.run().finally(() => (this.draining = null));
    return this.draining;
  }

  /** Tells a drain that runs that there is more. */
  wake(): void {
    this.rung = true;
    this.ring();
  }

  /** Starts nothing more, lets what is under way finish for a while, and gives back the rest. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.ring();
    const timer = setTimeout(() => {
      for (const controller of this.tries) controller.abort();
    }, STOP_GRACE_MS);
    await this.draining?.catch(() => undefined);
    clearTimeout(timer);
  }

  private async run(): Promise<Drained> {
    const drained: Drained = {};
    const underWay = new Set<Promise<void>>();
    let waiting: Claimed[] = [];
    let more = true;
    // In a row, without one that went through: beyond the concurrency, whatever is tried next fails as well.
    let unreachable = 0;
    const closed = () => this.stopped || unreachable >= this.pace.concurrency;
    const free = () => waiting.length === 0 && underWay.size < this.pace.concurrency && !closed();
    const begin = (message: Claimed) => {
      const running = this.attempt(message)
        .then(({ status, unreachable: away }) => {
          drained[status] = (drained[status] ?? 0) + 1;
          unreachable = away ? unreachable + 1 : 0;
        })
        .finally(() => {
          underWay.delete(running);
          this.ring();
        });
      underWay.add(running);
    };
    try {
      for (;;) {
        if (more && free()) {
          this.rung = false;
          const claimed = await this.claim(drained);
          more = claimed.full;
          waiting = claimed.messages;
        }
        while (waiting.length > 0 && underWay.size < this.pace.concurrency && !closed()) begin(waiting.shift()!);
        if (closed()) await Promise.all(waiting.splice(0).map((message) => this.store.release(message)));
        if (underWay.size === 0 && (closed() || !(more || this.rung))) break;
        // Told of more meanwhile, or nothing to wait for: on to the next claim.
        if (underWay.size === 0 || (this.rung && free())) more = true;
        else more = (await this.bell()) || more;
      }
    } finally {
      await Promise.allSettled(underWay);
      if (Object.keys(drained).length > 0)
        this.log.pino.info({ topic: this.courier.topic, ...drained }, 'outbox drained');
    }
    return drained;
  }

  /** @returns whether there is more to claim: it was said so, or enough time has passed */
  private async bell(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const timedOut = await Promise.race([
      new Promise<false>((resolve) => (this.ring = () => resolve(false))),
      new Promise<true>((resolve) => (timer = setTimeout(resolve, LOOK_AGAIN_MS, true))),
    ]);
    clearTimeout(timer);
    return timedOut || this.rung;
  }

  private async claim(drained: Drained): Promise<{ messages: Claimed[]; full: boolean }> {
    const claimed = await this.store.claim(this.courier.topic, this.pace.batch, this.pace.leaseMs);
    const full = claimed.length === this.pace.batch;
    if (claimed.length === 0 || !this.courier.screen) return { messages: claimed, full };
    const decided = await this.courier.screen(claimed);
    for (const message of claimed) {
      const outcome = decided.get(message.id);
      if (!outcome) continue;
      const { status } = await this.settle(message, outcome);
      drained[status] = (drained[status] ?? 0) + 1;
    }
    return { messages: claimed.filter(({ id }) => !decided.has(id)), full };
  }

  private async attempt(message: Claimed): Promise<{ status: FinalStatus | 'lost'; unreachable?: boolean }> {
    // It waited in hand for so long that a whole try does not fit in: it comes round again.
    if (message.lease.leftMs < this.pace.deadlineMs) return this.giveBack(message);
    const controller = new AbortController();
    this.tries.add(controller);
    const timer = setTimeout(() => controller.abort(), this.pace.deadlineMs);
    try {
      const outcome = await this.courier
        .deliver(message, controller.signal)
        .catch((error: unknown): Outcome => this.unexpected(error));
      if (outcome.status === 'failed' && controller.signal.aborted && this.stopped) {
        // It did not fail, it was interrupted.
        outcome.after?.();
        return await this.giveBack(message);
      }
      return await this.settle(message, outcome);
    } finally {
      clearTimeout(timer);
      this.tries.delete(controller);
    }
  }

  /** If the database is away, the lease's end gives it back. */
  private async giveBack(message: Claimed): Promise<{ status: 'lost' }> {
    await this.store.release(message).catch((error: unknown) => this.log.failure(error, null, 'outbox_not_released'));
    return { status: 'lost' };
  }

  private async settle(
    message: Claimed,
    outcome: Outcome,
  ): Promise<{ status: FinalStatus | 'lost'; unreachable?: boolean }> {
    try {
      if (outcome.status === 'lost') return { status: 'lost' };
      const { id, attempts, kind } = message;
      const failed = outcome.status === 'failed';
      const status = failed && attempts >= TRIES ? 'dead' : outcome.status;
      const note = outcome.status === 'sent' ? (outcome.note ?? null) : outcome.problem;
      const mine = await this.commit(message, status, note);
      if (mine && failed)
        this.log.pino.warn({ message: id, kind, attempts, status, problem: note }, 'outbox try failed');
      return { status: mine ? status : 'lost', unreachable: outcome.status === 'failed' && outcome.unreachable };
    } finally {
      outcome.after?.();
    }
  }

  /** What was carried out must be known as such, or it is done again: a database that is away is waited for. */
  private async commit(message: Claimed, status: FinalStatus, note: Problem | null): Promise<boolean> {
    const again = status === 'failed' ? pauseAfter(message.attempts) : null;
    for (;;) {
      try {
        return await this.store.finish(message, status, note, again);
      } catch (error) {
        this.log.failure(error, null, 'outbox_not_committed');
        if (message.lease.leftMs < 0 || this.stopped) return false;
        await sleep(COMMIT_PAUSE_MS);
      }
    }
  }

  /** A courier that throws has a bug; the message is tried again like any other. */
  private unexpected(error: unknown): Outcome {
    this.log.failure(error, null, `${this.courier.topic}_courier_failed`);
    return { status: 'failed', problem: 'internal_error' };
  }
}
