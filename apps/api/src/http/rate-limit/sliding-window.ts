/** Length of the window in seconds: all limits are per minute. */
export const WINDOW_SECONDS = 60;

/**
 * Hits are counted by the second, and a second counts until all of its hits are a whole window old. So no minute,
 * wherever it begins, ever holds more than the limit, and waiting until the oldest second leaves is always enough.
 */
export const SECONDS_KEPT = WINDOW_SECONDS + 1;

/** What one hit met. Times are seconds, rounded up. */
export interface Hit {
  allowed: boolean;
  /** Hits in the window, this one included if it was allowed. */
  used: number;
  /** Until the oldest counted hit leaves the window, and so until the next one is allowed if this was not. */
  resetIn: number;
}

/** Keys beyond this are forgotten, oldest first: an attacker with many addresses must not fill the memory. */
const MOST_KEYS = 100_000;

interface Counter {
  /** Hits by second, at index second % SECONDS_KEPT. */
  counts: Int32Array;
  used: number;
  newest: number;
}

/** Sliding windows of this process. */
export class SlidingWindows {
  private readonly counters = new Map<string, Counter>();

  /**
   * Counts a hit unless the limit is reached; refused hits do not count.
   *
   * @param now milliseconds of a clock that nobody sets: after the system's went back, a minute would last until it caught up
   */
  hit(key: string, limit: number, now = performance.now()): Hit {
    const second = Math.floor(now / 1000);
    const counter = this.counters.get(key) ?? this.add(key, second);
    advance(counter, second);
    const allowed = counter.used < limit;
    if (allowed) {
      counter.counts[second % SECONDS_KEPT]!++;
      counter.used++;
    }
    const oldest = oldestSecond(counter);
    return { allowed, used: counter.used, resetIn: Math.ceil(oldest + SECONDS_KEPT - now / 1000) };
  }

  private add(key: string, second: number): Counter {
    if (this.counters.size >= MOST_KEYS) this.counters.delete(this.counters.keys().next().value!);
    const counter = { counts: new Int32Array(SECONDS_KEPT), used: 0, newest: second };
    this.counters.set(key, counter);
    return counter;
  }
}

/** Empties the seconds that left the window. A clock that went back changes nothing. */
function advance(counter: Counter, second: number): void {
  const steps = Math.min(second - counter.newest, SECONDS_KEPT);
  for (let step = 1; step <= steps; step++) {
    const index = (counter.newest + step) % SECONDS_KEPT;
    counter.used -= counter.counts[index]!;
    counter.counts[index] = 0;
  }
  counter.newest = Math.max(counter.newest, second);
}

function oldestSecond({ counts, newest }: Counter): number {
  for (let second = newest - SECONDS_KEPT + 1; second < newest; second++) {
    if (counts[second % SECONDS_KEPT]! > 0) return second;
  }
  return newest;
}
