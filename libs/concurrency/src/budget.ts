import { QueueFull } from './turns.js';

/** Bytes that the process holds in memory for one client of an owner. */
export class Holding {
  bytes = 0;
  /** Whether it is in use, so that the bytes cannot go. */
  kept = false;
  private readonly controller = new AbortController();

  constructor(readonly owner: string) {}

  /** Aborted, with {@link QueueFull}, when the bytes must go because their owner holds the most. */
  get refused(): AbortSignal {
    return this.controller.signal;
  }

  refuse(): void {
    this.controller.abort(new QueueFull());
  }
}

/**
 * Limits the bytes that wait in memory for clients: bodies that have arrived, and parts of answers that are not taken
 * yet. Beyond the limit, the owner who holds the most loses its newest holding.
 */
export class Budget {
  private used = 0;
  /** Oldest first. */
  private readonly holdings = new Set<Holding>();

  constructor(private readonly most: number) {}

  /** Bytes held. */
  get bytes(): number {
    return this.used;
  }

  /** Begins to hold bytes, none at first. Whoever opened it releases it, whatever happened. */
  open(owner: string): Holding {
    const holding = new Holding(owner);
    this.holdings.add(holding);
    return holding;
  }

  /** Adds bytes to a holding, which may refuse this one or another. */
  add(holding: Holding, bytes: number): void {
    if (!this.holdings.has(holding)) return;
    holding.bytes += bytes;
    this.used += bytes;
    while (this.used > this.most) {
      const victim = this.newestOfLargestOwner() ?? holding;
      this.release(victim);
      victim.refuse();
      if (victim === holding) return;
    }
  }

  /** Does nothing to a holding that was released before. */
  release(holding: Holding): void {
    if (this.holdings.delete(holding)) this.used -= holding.bytes;
  }

  private newestOfLargestOwner(): Holding | undefined {
    const owners = new Map<string, { bytes: number; newest: Holding }>();
    for (const holding of this.holdings) {
      if (holding.kept || holding.bytes === 0) continue;
      owners.set(holding.owner, { bytes: (owners.get(holding.owner)?.bytes ?? 0) + holding.bytes, newest: holding });
    }
    return [...owners.values()].sort((a, b) => b.bytes - a.bytes)[0]?.newest;
  }
}
