import { LRUCache } from 'lru-cache';

/** Buckets beyond this are forgotten, the longest unused first, and are full again. */
const MOST_BUCKETS = 10_000;

/** Token buckets by name: a burst, then evenly so many a second. */
export class TokenBuckets {
  /** When the next token of a bucket is due, which is all that has to be kept of it (GCRA). Whole ms, so that sums are exact. */
  private readonly dueAt = new LRUCache<string, number>({ max: MOST_BUCKETS });
  private readonly interval: number;

  private readonly burst: number;

  constructor({ perSecond, burst }: { perSecond: number; burst: number }) {
    this.interval = Math.ceil(1_000 / perSecond);
    this.burst = burst;
  }

  /** Takes a token; false when there is none. */
  take(name: string): boolean {
    const now = Math.floor(performance.now());
    const dueAt = Math.max(this.dueAt.get(name) ?? -Infinity, now - (this.burst - 1) * this.interval);
    if (dueAt > now) return false;
    this.dueAt.set(name, dueAt + this.interval);
    return true;
  }
}
