/** There is no place left, or the wait was too long. */
export class QueueFull extends Error {}

interface Limits {
  /** Of one owner, working or waiting. */
  perOwner: number;
  /** Waiting, of all owners. */
  waiting: number;
  /** How long anything waits (ms). */
  wait: number;
}

/** Runs one task at a time. Owners take turns, so that whoever brings many tasks waits for itself. */
export class FairQueue {
  private running: string | null = null;
  /** The owners in the order of their turns. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(private readonly limits: Limits) {}

  /** @throws QueueFull when a task of this owner would find no place */
  check(owner: string): void {
    const own = (this.waiting.get(owner)?.length ?? 0) + (this.running === owner ? 1 : 0);
    let all = 0;
    for (const tasks of this.waiting.values()) all += tasks.length;
    if (own >= this.limits.perOwner || all >= this.limits.waiting) throw new QueueFull('The queue is full');
  }

  /**
   * @param gone ends the wait
   * @throws QueueFull, or the signal's reason
   */
  async run<T>(owner: string, gone: AbortSignal, task: () => Promise<T>): Promise<T> {
    gone.throwIfAborted();
    this.check(owner);
    if (this.running === null) this.running = owner;
    else await this.turn(owner, gone);
    try {
      return await task();
    } finally {
      this.next();
    }
  }

  private turn(owner: string, gone: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void) => () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', abandon);
        outcome();
      };
      const start = settle(resolve);
      const leave = (reason: () => Error) =>
        settle(() => {
          this.leave(owner, start);
          reject(reason());
        });
      const abandon = leave(() => gone.reason as Error);
      const timer = setTimeout(
        leave(() => new QueueFull('The wait was too long')),
        this.limits.wait,
      );
      gone.addEventListener('abort', abandon);
      this.waiting.set(owner, [...(this.waiting.get(owner) ?? []), start]);
    });
  }

  private next(): void {
    const [first] = this.waiting;
    if (!first) {
      this.running = null;
      return;
    }
    const [owner, tasks] = first;
    this.running = owner;
    tasks.shift()!();
    this.waiting.delete(owner);
    if (tasks.length > 0) this.waiting.set(owner, tasks);
  }

  private leave(owner: string, start: () => void): void {
    const tasks = this.waiting.get(owner)?.filter((task) => task !== start) ?? [];
    if (tasks.length > 0) this.waiting.set(owner, tasks);
    else this.waiting.delete(owner);
  }
}
