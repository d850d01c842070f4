import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** The queue is full, or the wait was too long. */
export class QueueFull extends Error {
  constructor() {
    super('Too many tasks are waiting');
  }
}

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
  /** Milliseconds of turns used, on the scale of {@link Turns.clock}. */
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
  /** Settles {@link ready}. */
  settle: { grant: () => void; refuse: (reason: QueueFull) => void } | null = null;
  /** When it was granted (ms); null before. */
  grantedAt: number | null = null;
  over = false;

  constructor(
    readonly owner: Owner,
    /** When the wait is too long (ms). */
    readonly until: number,
    private readonly leave: (turn: Turn) => void,
  ) {}

  /** Gives the turn back, or leaves the queue, which rejects {@link ready}. Only the first call counts. */
  end(): void {
    this.leave(this);
  }
}

/**
 * Shares a number of concurrent turns between owners by start-time fair queueing, as API Priority and Fairness in
 * Kubernetes does: a free turn goes to the waiting owner who has used the least time. A newcomer starts at the
 * current level, so that nobody saves up turns. What nobody else wants is anybody's: an owner that is alone holds nearly
 * all turns. https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
export class Turns {
  private free: number;
  private waits = 0;
  private clock = 0;
  private readonly owners = new Map<string, Owner>();
  private timer: NodeJS.Timeout | undefined;
  private utilization: EventLoopUtilization | undefined;
  private busy = false;

  /**
   * @param turns concurrent tasks
   * @param wait the longest wait (ms)
   */
  constructor(
    private readonly turns: number,
    private readonly wait = LONGEST_WAIT,
  ) {
    this.free = turns;
  }

  /** Waiting tasks. */
  get waiting(): number {
    return this.waits;
  }

  /** Turns held. */
  get held(): number {
    return this.turns - this.free;
  }

  /** Whether somebody other than this owner is present. */
  isShared(owner: string): boolean {
    return this.owners.size > (this.owners.has(owner) ? 1 : 0);
  }

  /**
   * Enters a task. Its turn is granted at once, or when its `ready` resolves.
   *
   * @param wait the longest wait (ms). Then, or when the queue is full, `ready` rejects with {@link QueueFull}.
   */
  enter(name: string, wait = this.wait): Turn {
    const now = performance.now();
    const owner = this.present(name, now);
    const turn = new Turn(owner, now + wait, this.leave);
    if (owner.queue.length === 0 && this.fits(owner)) this.grant(turn, now);
    else this.enqueue(turn);
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
    if (!owner) {
      owner = { name, used: 0, held: 0, queue: [], seenAt: now };
      this.owners.set(name, owner);
      this.timer ??= setInterval(this.sweep, SWEEP).unref();
    }
    if (owner.held === 0 && owner.queue.length === 0) owner.used = Math.max(owner.used, this.clock);
    owner.seenAt = now;
    return owner;
  }

  private fits(owner: Owner): boolean {
    return this.free > 0 && owner.held < this.share(owner);
  }

  private share({ name }: Owner): number {
    if (!this.isShared(name)) return Math.max(1, this.turns - SPARE);
    return this.busy ? 1 : Math.max(1, Math.floor(this.turns / 2));
  }

  private grant(turn: Turn, now: number): void {
    const { owner } = turn;
    this.free--;
    owner.held++;
    this.clock = Math.max(this.clock, owner.used);
    turn.grantedAt = now;
    turn.settle?.grant();
  }

  private enqueue(turn: Turn): void {
    turn.owner.queue.push(turn);
    this.waits++;
    turn.ready = new Promise((grant, refuse) => {
      turn.settle = { grant, refuse };
    });
    // Whoever entered may not wait for it yet.
    turn.ready.catch(() => undefined);
    if (this.waits > MOST_WAITING) this.refuse(this.longestQueue().at(-1)!);
  }

  private longestQueue(): Turn[] {
    let longest: Turn[] = [];
    for (const { queue } of this.owners.values()) if (queue.length > longest.length) longest = queue;
    return longest;
  }

  private refuse(turn: Turn): void {
    this.withdraw(turn);
    turn.settle!.refuse(new QueueFull());
  }

  private withdraw(turn: Turn): void {
    const { queue } = turn.owner;
    const place = queue.indexOf(turn);
    if (place < 0) return;
    queue.splice(place, 1);
    this.waits--;
  }

  private readonly leave = (turn: Turn): void => {
    if (turn.over) return;
    turn.over = true;
    if (turn.grantedAt === null) {
      this.refuse(turn);
      return;
    }
    const now = performance.now();
    const { owner } = turn;
    owner.used += Math.max(1, now - turn.grantedAt);
    owner.held--;
    owner.seenAt = now;
    this.free++;
    if (this.waits > 0) this.dispatch(now);
  };

  /** Grants free turns, each to the waiting owner who has used the least. */
  private dispatch(now: number): void {
    while (this.free > 0) {
      let next: Owner | undefined;
      for (const owner of this.owners.values()) {
        if (owner.queue.length > 0 && owner.used < (next?.used ?? Infinity) && this.fits(owner)) next = owner;
      }
      const turn = next?.queue[0];
      if (!turn) return;
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
    for (const owner of this.owners.values()) {
      for (const turn of owner.queue.filter(({ until }) => until <= now)) this.refuse(turn);
      if (owner.held === 0 && owner.queue.length === 0 && owner.seenAt + SWEEP <= now) this.owners.delete(owner.name);
    }
    // Shares may have grown.
    if (this.waits > 0) this.dispatch(now);
    if (this.owners.size > 0) return;
    clearInterval(this.timer);
    this.timer = this.utilization = undefined;
    this.busy = false;
  };
}
