/** All limits are per minute. */
export const MINUTE_MS = 60_000;

/** The estimate of Redis' clock may go back by this much between two answers (s); by more, and the clock was set. */
const CLOCK_SLACK = 2;

/** The hits of one second. */
export interface Second {
  at: number;
  /** Counted in Redis, by all processes. */
  shared: number;
  /** Counted by this process alone and not yet reported to Redis. */
  own: number;
  /** Counted by this process alone and part of `shared` by its last report. */
  reported?: number;
}

/** What is left of a limit. */
export interface Room {
  /** Hits that this process may still allow. */
  left: number;
  /** Seconds, rounded up, until more hits are left than now. */
  resetIn: number;
}

/**
 * One sliding window, as one process knows it: what Redis had counted when it last answered, and what this process has
 * allowed by itself since. Without Redis everything is its own.
 *
 * Hits are counted by the second, and a second counts until all of its hits are a whole window old. So no minute,
 * wherever it begins, ever holds more than the limit, and waiting until the oldest second leaves is always enough.
 * All times are seconds of the same clock: Redis' own where there is one.
 */
export class SlidingWindow {
  /** How long a second counts. */
  readonly kept: number;
  /** A report is on its way to Redis: what it holds is not sent again before the answer. */
  reporting = false;
  /** The connection over which Redis last answered for it. */
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
   * What this process has just reported still comes off its own share: when Redis comes back for a moment only, the
   * others may not have reported theirs yet.
   *
   * @param sharers processes that divide among themselves what Redis has not counted yet
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

  /** Counts hits of this process; a negative number takes back what Redis turns out to have counted as well. */
  count(now: number, hits = 1): void {
    this.at(Math.floor(now)).own += hits;
  }

  /** Whether Redis has yet to hear of hits. */
  get unreported(): boolean {
    return this.seconds.some(({ own }) => own !== 0);
  }

  /**
   * What Redis has to be told.
   *
   * @param everything what it had counted before, too: it may have lost it
   */
  report(everything: boolean): Second[] {
    if (this.reporting) return [];
    return this.seconds.filter(({ own }) => everything || own !== 0).map((second) => ({ ...second }));
  }

  /**
   * Takes over what Redis has counted.
   *
   * @param counts pairs of second and count, oldest first
   * @param reported what the counts now include
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
      // An answer that no report came with tells what the others have reported.
      if (counted > 0 && told) second.reported = counted;
    }
  }

  private expire(now: number): void {
    const newest = this.seconds.at(-1);
    if (!newest) return;
    // After the clock was set back, the window would lock out until the clock had caught up.
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

/** Rounded up: a limit smaller than the number of processes must still let something through. */
function share(hits: number, sharers: number): number {
  return Math.max(0, Math.ceil(hits / sharers));
}
