import { QueueFull } from './turns.js';

/** Bytes that the process holds in memory for one client of an owner. */
export class Holding extends AbortController {
  bytes = 0;
  /** Whether it is in use, so that the bytes cannot go. */
  kept = false;

  constructor(readonly owner: string) {
    super();
  }
}

/** Limits the bytes that wait in memory for clients. Beyond it, the newest holding of the owner who has the most is aborted ({@link QueueFull}). */
export class Budget {
  private used = 0;
  /** Oldest first. */
  private readonly holdings = new Set<Holding>();

  constructor(private readonly most: number) {}

  get bytes(): number {
    return this.used;
  }

  /** Begins to hold bytes, none at first. Whoever opened it releases it, whatever happened. */
  open(owner: string): Holding {
    const holding = new Holding(owner);
    this.holdings.add(holding);
    return holding;
  }

  /** Adds bytes to a holding, which may abort this one or another. */
  add(holding: Holding, bytes: number): void {
    if (!this.holdings.has(holding)) return;
    holding.bytes += bytes;
    this.used += bytes;
    while (this.used > this.most && this.holdings.has(holding)) {
      const victim = this.newestOfLargestOwner() ?? holding;
      this.release(victim);
      victim.abort(new QueueFull('Too many bytes are waiting'));
    }
  }

  /** Does nothing to a holding that was released before. */
  release(holding: Holding): void {
    if (this.holdings.delete(holding)) this.used -= holding.bytes;
  }

  private newestOfLargestOwner(): Holding | undefined {
    const owners = new Map<string, { bytes: number; newest: Holding }>();
    for (const newest of this.holdings) {
      if (newest.kept || newest.bytes === 0) continue;
      owners.set(newest.owner, { bytes: (owners.get(newest.owner)?.bytes ?? 0) + newest.bytes, newest });
    }
    return [...owners.values()].sort((a, b) => b.bytes - a.bytes)[0]?.newest;
  }
}
