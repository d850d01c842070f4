import { LRUCache } from 'lru-cache';

/** Beyond this number, the least recently used buckets are forgotten, which makes them full again. */
const MOST_BUCKETS = 10_000;

/** Token buckets by name: a burst, then a steady rate per second. */
export class TokenBuckets {
  /** When each bucket's next token is due, which is its whole state (GCRA). In whole ms, so that sums are exact. */
  private readonly dueAt = new LRUCache<string, number>({ max: MOST_BUCKETS });
  private readonly interval: number;

  private readonly burst: number;

  constructor({ perSecond, burst }: { perSecond: number; burst: number }) {
    this.interval = Math.ceil(1_000 / perSecond);
    this.burst = burst;
  }

  /** Takes a token. @returns false if there is none */
  take(name: string): boolean {
    const now = Math.floor(performance.now());
    const dueAt = Math.max(this.dueAt.get(name) ?? -Infinity, now - (this.burst - 1) * this.interval);
    if (dueAt > now) return false;
    this.dueAt.set(name, dueAt + this.interval);
    return true;
  }
}
