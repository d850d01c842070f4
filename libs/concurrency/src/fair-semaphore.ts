import { Expiries } from './expiries.js';

/** The queue is full, or the wait was too long. */
export class QueueFull extends Error {}

export interface SemaphoreLimits {
  permits: number;
  /** The most permits that one owner may hold, even while others are free, so that the next owner finds one. */
  share: number;
  /** Permits held, pauses and claims waiting, for one owner. */
  perOwner: number;
  /** Claims waiting, for all owners. */
  waiting: number;
  /** The longest wait (ms). */
  wait: number;
}

/** A request for a permit, with deviations from the general limits. */
export interface Claim {
  owner: string;
  share?: number;
  perOwner?: number;
  /** Permits that must stay free for claims that reserve less. */
  reserve?: number;
  /** ms; at most the limit of all */
  wait?: number;
  /** Ends the wait. */
  signal?: AbortSignal;
}

/** A claim that waits for a permit. */
class Waiter {
  private readonly until: number;

  constructor(
    readonly owner: string,
    readonly share: number,
    readonly reserve: number,
    wait: number,
    readonly grant: () => void,
    readonly refuse: (reason: Error) => void,
  ) {
    this.until = performance.now() + wait;
  }

  get left(): number {
    return this.until - performance.now();
  }
}

/**
 * A counting semaphore shared by owners. No owner holds more than its share. Waiting owners are served round-robin, so
 * that one with many tasks waits for itself; each owner's tasks keep their order. Queues are bounded.
 */
export class FairSemaphore {
  private free: number;
  private waits = 0;
  /** How much of its share each owner has taken: permits held, and pauses. */
  private readonly taken = new Map<string, number>();
  /** Owners who wait, in the order of their turns. */
  private readonly queues = new Map<string, Waiter[]>();
  private readonly waiters = new Expiries<Waiter>((waiter) => {
    this.leave(waiter, new QueueFull('The wait was too long'));
  });

  constructor(private readonly limits: SemaphoreLimits) {
    this.free = limits.permits;
  }

  /** Waiting tasks. */
  get waiting(): number {
    return this.waits;
  }

  /** Whether the queue has room for another claim of this owner. */
  hasRoom(owner: string, perOwner = this.limits.perOwner): boolean {
    const own = (this.taken.get(owner) ?? 0) + (this.queues.get(owner)?.length ?? 0);
    return own < perOwner && this.waits < this.limits.waiting;
  }

  /** Whether somebody other than this owner waits. */
  isContended(owner: string): boolean {
    return this.queues.size > (this.queues.has(owner) ? 1 : 0);
  }

  /**
   * Runs the task with a permit.
   *
   * @throws QueueFull, or the signal's reason
   */
  async run<T>(claim: Claim, task: () => Promise<T>): Promise<T> {
    // Most claims are granted at once, without another turn of the event loop.
    const wait = this.acquire(claim);
    if (wait) await wait;
    try {
      return await task();
    } finally {
      this.release(claim.owner);
    }
  }

  /** @returns what to wait for; null when the permit is granted at once. Call {@link release} for each permit. */
  acquire({ owner, share = this.limits.share, perOwner, reserve = 0, wait, signal }: Claim): Promise<void> | null {
    signal?.throwIfAborted();
    // Waiting claims could not be served, so this one only overtakes its own owner's.
    if (!this.queues.has(owner) && this.fits(owner, share, reserve)) {
      this.take(owner);
      return null;
    }
    if (!this.hasRoom(owner, perOwner)) throw new QueueFull('The queue is full');
    return this.enqueue(owner, share, reserve, Math.min(wait ?? Infinity, this.limits.wait), signal);
  }

  /** @param pause how long the owner's share stays taken, while the permit serves others (ms) */
  release(owner: string, pause = 0): void {
    this.free++;
    if (pause > 0) {
      setTimeout(() => {
        this.giveBack(owner);
        this.dispatch();
      }, pause).unref();
    } else this.giveBack(owner);
    this.dispatch();
  }

  private giveBack(owner: string): void {
    const taken = this.taken.get(owner)! - 1;
    if (taken > 0) this.taken.set(owner, taken);
    else this.taken.delete(owner);
  }

  private fits(owner: string, share: number, reserve: number): boolean {
    return this.free > reserve && (this.taken.get(owner) ?? 0) < share;
  }

  private take(owner: string): void {
    this.free--;
    this.taken.set(owner, (this.taken.get(owner) ?? 0) + 1);
  }

  private enqueue(owner: string, share: number, reserve: number, wait: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(owner, share, reserve, wait, resolve, reject);
      signal?.addEventListener('abort', () => {
        if (this.queues.get(owner)?.includes(waiter)) this.leave(waiter, signal.reason as Error);
      });
      this.waits++;
      const queue = this.queues.get(owner);
      if (queue) queue.push(waiter);
      else this.queues.set(owner, [waiter]);
      this.waiters.add(waiter);
    });
  }

  private leave(waiter: Waiter, reason: Error): void {
    this.remove(waiter);
    // This claim may have blocked those behind it.
    this.dispatch();
    waiter.refuse(reason);
  }

  /** Grants free permits, one to each owner in turn. */
  private dispatch(): void {
    for (const [owner, [first]] of this.queues) {
      if (this.free === 0) return;
      if (!this.fits(owner, first!.share, first!.reserve)) continue;
      this.remove(first!);
      // Moves to the end: iterating a Map includes entries added meanwhile.
      const rest = this.queues.get(owner);
      if (rest) {
        this.queues.delete(owner);
        this.queues.set(owner, rest);
      }
      this.take(owner);
      first!.grant();
    }
  }

  private remove(waiter: Waiter): void {
    const { owner } = waiter;
    const queue = this.queues.get(owner)!;
    queue.splice(queue.indexOf(waiter), 1);
    this.waits--;
    if (queue.length === 0) this.queues.delete(owner);
    this.waiters.delete(waiter);
  }
}
