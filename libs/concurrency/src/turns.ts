import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** The queue is full, or the wait was too long. */
export class QueueFull extends Error {}

/** Waiting tasks of all owners. One more refuses the newest of the owner who has the most. */
const MOST_WAITING = 256;
/** The longest wait (ms), unless a task brings its own. */
const LONGEST_WAIT = 4_000;
/** How often waits are checked, and how long an owner still counts as present after its last task (ms). */
const SWEEP = 100;
/** Turns that an owner leaves free even when it is alone, so that the next one finds some. */
const SPARE = 2;
/** While the event loop is busier than this (0 to 1), each of several owners gets a single turn. */
const BUSY = 0.7;

interface Owner {
  name: string;
  /** Milliseconds of turns, on the scale of the clock. */
  used: number;
  held: number;
  /** Oldest first. */
  queue: Turn[];
  seenAt: number;
}

/** A place in the queue, then the right to work. Whoever entered ends it, whatever happened. */
export class Turn {
  /** What to wait for; null if the turn was granted at once. */
  ready: Promise<void> | null = null;
  /** When it was granted (ms); null before. */
  grantedAt: number | null = null;
  over = false;
  /** Settle {@link ready}. */
  grant = (): void => undefined;
  refuse = (_reason: QueueFull): void => undefined;

  constructor(
    readonly owner: Owner,
    /** When the wait is too long (ms). */
    readonly until: number,
    /** Gives the turn back, or leaves the queue, which rejects {@link ready}. Only the first call counts. */
    readonly end: () => void,
  ) {}

  wait(): void {
    this.ready = new Promise((grant, refuse) => Object.assign(this, { grant, refuse }));
    // Whoever entered may not wait for it yet.
    this.ready.catch(() => undefined);
  }
}

/**
 * Shares concurrent turns between owners by start-time fair queueing: a free turn goes to the waiting owner who has used the least time. A newcomer
 * starts at the current level. https://kubernetes.io/docs/concepts/cluster-administration/flow-control
 */
export class Turns {
  private free: number;
  private waits = 0;
  private clock = 0;
  private readonly owners = new Map<string, Owner>();
  private timer: NodeJS.Timeout | undefined;
  private utilization: EventLoopUtilization | undefined;
  private busy = false;

  /** @param wait the longest wait (ms) */
  constructor(
    private readonly turns: number,
    private readonly wait = LONGEST_WAIT,
  ) {
    this.free = turns;
  }

  get waiting(): number {
    return this.waits;
  }

  get held(): number {
    return this.turns - this.free;
  }

  /** Whether somebody other than this owner is present. */
  isShared(owner: string): boolean {
    return this.owners.size > (this.owners.has(owner) ? 1 : 0);
  }

  /** Enters a task. Its `ready` resolves with its turn, or rejects with {@link QueueFull} after `wait` ms or when the queue is full. */
  enter(name: string, wait = this.wait): Turn {
    const now = performance.now();
    const owner = this.present(name, now);
    const turn: Turn = new Turn(owner, now + wait, () => {
      this.leave(turn);
    });
    if (owner.queue.length === 0 && this.fits(owner)) {
      this.grant(turn, now);
    } else {
      turn.wait();
      owner.queue.push(turn);
      if (++this.waits > MOST_WAITING) this.refuseNewestOfLongestQueue();
    }
    return turn;
  }

  /** Runs the task in a turn. @throws QueueFull */
  async run<T>(owner: string, task: () => Promise<T>): Promise<T> {
    const turn = this.enter(owner);
    try {
      await turn.ready;
      return await task();
    } finally {
      turn.end();
    }
  }

  private present(name: string, now: number): Owner {
    let owner = this.owners.get(name);
    if (!owner) this.owners.set(name, (owner = { name, used: 0, held: 0, queue: [], seenAt: now }));
    if (owner.held === 0 && owner.queue.length === 0) owner.used = Math.max(owner.used, this.clock);
    owner.seenAt = now;
    this.timer ??= setInterval(this.sweep, SWEEP).unref();
    return owner;
  }

  private fits({ name, held }: Owner): boolean {
    if (this.free === 0) return false;
    if (!this.isShared(name)) return held < Math.max(1, this.turns - SPARE);
    return held < (this.busy ? 1 : Math.max(1, Math.floor(this.turns / 2)));
  }

  private grant(turn: Turn, now: number): void {
    const { owner } = turn;
    this.free--;
    owner.held++;
    this.clock = Math.max(this.clock, owner.used);
    turn.grantedAt = now;
    turn.grant();
  }

  private refuseNewestOfLongestQueue(): void {
    let longest: Turn[] = [];
    for (const { queue } of this.owners.values()) if (queue.length > longest.length) longest = queue;
    longest.at(-1)!.end();
  }

  private withdraw(turn: Turn): void {
    turn.owner.queue.splice(turn.owner.queue.indexOf(turn), 1);
    this.waits--;
  }

  private leave(turn: Turn): void {
    if (turn.over) return;
    turn.over = true;
    if (turn.grantedAt === null) {
      this.withdraw(turn);
      turn.refuse(new QueueFull('Too many tasks are waiting'));
      return;
    }
    const now = performance.now();
    const { owner } = turn;
    owner.used += Math.max(1, now - turn.grantedAt);
    owner.held--;
    owner.seenAt = now;
    this.free++;
    if (this.waits > 0) this.dispatch(now);
  }

  /** Grants free turns, each to the waiting owner who has used the least. */
  private dispatch(now: number): void {
    for (;;) {
      let next: Owner | undefined;
      for (const owner of this.owners.values()) {
        if (owner.queue.length > 0 && owner.used < (next?.used ?? Infinity) && this.fits(owner)) next = owner;
      }
      if (!next) return;
      const turn = next.queue[0]!;
      this.withdraw(turn);
      this.grant(turn, now);
    }
  }

  /** Refuses those who waited too long, forgets owners who are gone, and looks how busy the event loop was. */
  private readonly sweep = (): void => {
    const now = performance.now();
    const utilization = performance.eventLoopUtilization();
    this.busy = performance.eventLoopUtilization(utilization, this.utilization).utilization > BUSY;
    this.utilization = utilization;
    for (const { name, held, queue, seenAt } of this.owners.values()) {
      for (const turn of queue.filter(({ until }) => until <= now)) turn.end();
      if (held === 0 && queue.length === 0 && seenAt + SWEEP <= now) this.owners.delete(name);
    }
    // Shares may have grown.
    this.dispatch(now);
    if (this.owners.size > 0) return;
    clearInterval(this.timer);
    this.timer = this.utilization = undefined;
    this.busy = false;
  };
}
