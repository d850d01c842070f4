/** All limits are per minute. */
export const MINUTE_MS = 60_000;

/** How far the estimate of Redis's clock may go back between two answers (s). If further, the clock was set. */
const CLOCK_SLACK = 2;

/** The hits of one second. */
export interface Second {
  at: number;
  /** Counted in Redis, by all processes. */
  shared: number;
  /** Counted only by this process and not yet reported to Redis. */
  own: number;
  /** Counted only by this process, and included in `shared` since its last report. */
  reported?: number;
}

/** The rest of a limit. */
export interface Room {
  /** The number of hits that this process may still allow. */
  left: number;
  /** Seconds, rounded up, until more hits are left than now. */
  resetIn: number;
}

/**
 * A sliding window as one process knows it: the hits that Redis had counted when it last answered, and those that this
 * process has allowed by itself since. Without Redis, all are its own.
 *
 * Hits are counted per second, and a second counts until all of its hits are a whole window old. So no minute, wherever
 * it begins, ever contains more hits than the limit, and waiting until the oldest second leaves is always enough. All
 * times are seconds of the same clock: Redis's, if there is one.
 */
export class SlidingWindow {
  /** How long a second counts. */
  readonly kept: number;
  /** A report is on its way to Redis. Its contents are not sent again before the answer. */
  reporting = false;
  /** The connection on which Redis last answered for this window. */
  connection = 0;
  /** Oldest first. */
  private seconds: Second[] = [];

  constructor(
    readonly key: string,
    lengthMs: number,
  ) {
    this.kept = Math.ceil(lengthMs / 1000) + 1;
  }

  /**
   * Hits that this process has just reported still count towards its own share: if Redis is back only for a moment, the
   * others may not have reported theirs yet.
   *
   * @param sharers the number of processes that share the rest of the limit
   */
  room(limit: number, sharers: number, now: number): Room {
    this.expire(now);
    let [others, own] = [0, 0];
    for (const second of this.seconds) {
      const { reported = 0 } = second;
      others += second.shared - reported;
      own += second.own + reported;
    }
    const left = share(limit - others, sharers) - own;
    let resetIn = this.kept;
    for (const second of this.seconds) {
      const { reported = 0 } = second;
      others -= second.shared - reported;
      own -= second.own + reported;
      if (share(limit - others, sharers) - own > Math.max(left, 0)) {
        resetIn = Math.ceil(second.at + this.kept - now);
        break;
      }
    }
    return { left, resetIn };
  }

  /** Counts a hit of this process unless nothing is left; refused hits do not count. */
  hit(limit: number, sharers: number, now: number): Room & { allowed: boolean } {
    const allowed = this.room(limit, sharers, now).left > 0;
    if (allowed) this.count(now);
    return { allowed, ...this.room(limit, sharers, now) };
  }

  /** Counts hits of this process. A negative number removes hits that Redis turns out to have counted as well. */
  count(now: number, hits = 1): void {
    this.at(Math.floor(now)).own += hits;
  }

  /** Whether hits have not been reported to Redis yet. */
  get unreported(): boolean {
    return this.seconds.some(({ own }) => own !== 0);
  }

  /**
   * The seconds to report to Redis.
   *
   * @param everything whether to include hits that Redis had counted before, because it may have lost them
   */
  report(everything: boolean): Second[] {
    if (this.reporting) return [];
    return this.seconds.filter(({ own }) => everything || own !== 0).map((second) => ({ ...second }));
  }

  /**
   * Takes over the counts from Redis.
   *
   * @param counts pairs of second and count, oldest first
   * @param reported the report that the counts now include
   */
  settle(counts: number[], reported: Second[]): void {
    const told = reported.length > 0;
    for (const { at, own } of reported) {
      const second = this.at(at);
      second.own -= own;
      second.reported = (second.reported ?? 0) + own;
    }
    const before = this.seconds.filter((second) => second.own !== 0 || second.reported);
    this.seconds = [];
    for (let index = 0; index < counts.length; index += 2) {
      this.seconds.push({ at: counts[index]!, shared: counts[index + 1]!, own: 0 });
    }
    for (const { at, own, reported = 0 } of before) {
      const second = this.at(at);
      second.own += own;
      const counted = Math.min(reported, second.shared);
      // An answer to a call without a report shows what the others have reported.
      if (counted > 0 && told) second.reported = counted;
    }
  }

  private expire(now: number): void {
    const newest = this.seconds.at(-1);
    if (!newest) return;
    // If the clock was set back, the window would refuse hits until the clock had caught up.
    if (newest.at > now + CLOCK_SLACK) this.seconds = [];
    const oldest = Math.floor(now) - this.kept;
    while (this.seconds[0] && this.seconds[0].at <= oldest) this.seconds.shift();
  }

  private at(at: number): Second {
    const before = this.seconds.findLastIndex((second) => second.at <= at);
    const found = this.seconds[before];
    if (found?.at === at) return found;
    const second = { at, shared: 0, own: 0 };
    this.seconds.splice(before + 1, 0, second);
    return second;
  }
}

/** Rounds up: a limit smaller than the number of processes must still let something through. */
function share(hits: number, sharers: number): number {
  return Math.max(0, Math.ceil(hits / sharers));
}
