import { MINUTE_MS, type Second, SlidingWindow } from '../../apps/api/src/http/rate-limit/sliding-window.js';
import { Random } from '../support/data/random.js';

/** In seconds, like all times here. */
const MINUTE = MINUTE_MS / 1_000;
const SEEDS = [1, 2, 55_365_054, Number(process.env.SEED ?? Date.now() % 4_294_967_296)];

const newWindow = () => new SlidingWindow('a', MINUTE_MS);

/** The most hits in any minute, wherever it begins. */
function fullestMinute(times: number[]): number {
  let first = 0;
  return times.reduce((most, time, index) => {
    while (times[first]! <= time - MINUTE) first++;
    return Math.max(most, index - first + 1);
  }, 0);
}

describe('the sliding window of one process', () => {
  it.each(SEEDS)('never allows more than the limit in any minute, and reports correct values (seed %i)', (seed) => {
    const random = new Random(seed);
    for (let round = 0; round < 30; round++) {
      const window = newWindow();
      const limit = 1 + random.integer(random.pick([3, 60, 700]));
      const allowed: number[] = [];
      let now = random.integer(10_000);
      for (let hit = 0; hit < 1_500; hit++) {
        // Bursts, steady streams, pauses, and arrivals at the very edge of a second or a minute.
        now += random.pick([0, 0, 0.001, 0.01, 0.1, 0.999, 1, 1.001, 5, MINUTE - 0.001, MINUTE, MINUTE + 1, random.integer(300) / 1_000]);
        const met = window.hit(limit, 1, now);
        if (met.allowed) allowed.push(now);
        expect(met.left).toBeGreaterThanOrEqual(0);
        expect(met.resetIn).toBeGreaterThanOrEqual(1);
        expect(met.resetIn).toBeLessThanOrEqual(MINUTE + 1);
        if (met.allowed || random.chance(0.99)) continue;
        // Waiting for the reported time is enough.
        const replayed = newWindow();
        for (const time of allowed) replayed.hit(limit, 1, time);
        expect(replayed.hit(limit, 1, now + met.resetIn).allowed).toBe(true);
        if (random.chance(0.5)) now += met.resetIn;
      }
      expect(fullestMinute(allowed)).toBeLessThanOrEqual(limit);
    }
  }); // prettier-ignore

  it('allows at least 98 % of the limit under any load', () => {
    for (const rate of [1.5, 5, 50]) {
      const window = newWindow();
      let count = 0;
      for (let now = 0; now < 20 * MINUTE; now += MINUTE / (600 * rate))
        count += window.hit(600, 1, now).allowed ? 1 : 0;
      expect(count / (20 * 600)).toBeGreaterThan(0.98);
      // The first minute's burst comes on top: 20 minutes hold the beginnings of 20 windows, and the last one's end.
      expect(count / (20 * 600)).toBeLessThanOrEqual(1);
    }
  });

  it('allows everything below the limit', () => {
    const window = newWindow();
    for (let now = 0; now < 10 * MINUTE; now += MINUTE / 585) expect(window.hit(600, 1, now).allowed).toBe(true);
  });

  it('has no boundary that lets twice the limit through', () => {
    const window = newWindow();
    const times = [59.9, 59.999, 60, 60.1].flatMap((time) => Array<number>(600).fill(time));
    expect(times.filter((time) => window.hit(600, 1, time).allowed)).toHaveLength(600);
  });

  it('does not count refused requests', () => {
    const window = newWindow();
    for (let now = 0; now < 61; now += 0.1) window.hit(5, 1, now);
    expect(window.hit(5, 1, 61)).toMatchObject({ allowed: true, left: 4 });
  });

  it('starts over after the clock is set back, and locks nobody out', () => {
    const window = newWindow();
    window.hit(1, 1, 10_000);
    expect(window.hit(1, 1, 6_400).allowed).toBe(true);
  });

  it('tolerates a clock that is briefly behind', () => {
    const window = newWindow();
    window.hit(1, 1, 10_000.1);
    expect(window.hit(1, 1, 9_999.9).allowed).toBe(false);
  });
});

describe('a window while Redis is away', () => {
  it('continues from the counts in Redis with its share of the rest, as old hits expire', () => {
    const window = newWindow();
    window.settle([100, 40, 130, 20], []);
    const allowed = (now: number) => {
      let count = 0;
      while (window.hit(100, 4, now).allowed) count++;
      return count;
    };
    expect(allowed(140)).toBe(10);
    expect([window.room(100, 4, 140).left, window.room(100, 4, 140).resetIn]).toEqual([0, 21]);
    expect(allowed(161)).toBe(10);
    expect(allowed(191)).toBe(5);
    expect(allowed(201)).toBe(10);
  });

  it('allows something even with more processes than the limit', () => {
    expect(newWindow().hit(2, 8, 0).allowed).toBe(true);
  });

  it('reports the wait when the processes together exceeded the limit', () => {
    const window = newWindow();
    window.settle([100, 1, 110, 4], []);
    expect(window.room(4, 1, 120)).toEqual({ left: 0, resetIn: 51 });
  });

  it('reports what it allowed once, and everything to a Redis that may have lost it', () => {
    const window = newWindow();
    window.settle([100, 7], []);
    expect([window.unreported, window.report(false)]).toEqual([false, []]);
    window.count(101.5, 3);
    const report = window.report(false);
    expect([window.unreported, report]).toEqual([true, [{ at: 101, shared: 0, own: 3 }]]);
    expect(window.report(true)).toEqual([{ at: 100, shared: 7, own: 0 }, ...report]);
    window.reporting = true;
    expect(window.report(true)).toEqual([]);
    // Counted while the report was in flight, so reported next.
    window.count(101.9);
    window.settle([100, 7, 101, 3], report);
    window.reporting = false;
    expect(window.report(false)).toMatchObject([{ at: 101, shared: 3, own: 1 }]);
    expect(window.room(20, 1, 102).left).toBe(20 - 7 - 3 - 1);
  });

  it('keeps what it allowed while a report was in flight, also in another second', () => {
    const window = newWindow();
    window.count(101);
    const report = window.report(false);
    window.count(105);
    window.settle([101, 1], report);
    expect(window.report(false)).toEqual([{ at: 105, shared: 0, own: 1 }]);
  });

  it('shares only what others have left of the limit: what it has just reported is its own', () => {
    const window = newWindow();
    window.count(100, 2);
    window.count(110, 2);
    window.settle([100, 3, 110, 4], window.report(false));
    expect(window.room(8, 2, 120).left).toBe(3 - 4);
    // The first second is not enough: others have used two of the rest, and this process the other two.
    expect(window.room(4, 1, 120)).toEqual({ left: -3, resetIn: 51 });
  });

  it('reports the wait until its share grows', () => {
    const window = newWindow();
    window.settle([100, 1, 110, 40], []);
    expect(window.room(100, 4, 120)).toEqual({ left: 15, resetIn: 51 });
  });

  /** Redis as the script sees it: counts by second. */
  class SharedCounts {
    private readonly counts = new Map<number, number>();

    hit(now: number, limit: number, asked: boolean, reported: Second[]): { allowed: boolean; counts: number[] } {
      for (const { at, shared, own } of reported) {
        this.counts.set(at, Math.max(this.counts.get(at) ?? 0, shared) + own);
      }
      const second = Math.floor(now);
      for (const at of this.counts.keys()) if (at <= second - MINUTE - 1) this.counts.delete(at);
      const used = [...this.counts.values()].reduce((sum, count) => sum + count, 0);
      const allowed = asked && used < limit;
      if (allowed) this.counts.set(second, (this.counts.get(second) ?? 0) + 1);
      return { allowed, counts: [...this.counts].sort(([one], [other]) => one - other).flat() };
    }
  }

  /** Four processes at five times the limit, and a Redis that comes and goes. @returns when hits were allowed */
  function simulate(random: Random, limit: number, awayFor: () => number, planted = false): number[] {
    const processes = Array.from({ length: 4 }, newWindow);
    const redis = new SharedCounts();
    const allowed: number[] = [];
    let [away, switchAt] = [false, 3];
    const exchange = (window: SlidingWindow, now: number, asked: boolean) => {
      const reported = window.report(false);
      const answer = redis.hit(now, limit, asked, reported);
      window.settle(answer.counts, reported);
      return answer.allowed;
    };
    for (let now = 0; now < 6 * MINUTE; now += (MINUTE / (5 * limit)) * 2 * random.next()) {
      if (now >= switchAt) {
        away = !away;
        switchAt = now + (away ? awayFor() : 5 * random.next());
        if (!away) for (const window of processes) exchange(window, now, false);
        else if (planted) for (const index of processes.keys()) processes[index] = newWindow();
      }
      const window = random.pick(processes);
      if (away ? window.hit(limit, 4, now).allowed : exchange(window, now, true)) allowed.push(now);
    }
    return allowed;
  }

  it.each(SEEDS)('neither doubles nor loses allowances, whether Redis is away for long or often (seed %i)', (seed) => {
    const random = new Random(seed);
    // In a long outage, no process can use what another leaves of its share.
    const outages: [awayFor: () => number, least: number][] = [[() => 0.12, 0.98], [() => 70 * random.next(), 0.95]];
    // What the others allowed last is unknown when Redis goes away. One seed in a thousand makes that more than 2 %.
    const most = seed === SEEDS.at(-1) ? 1.05 : 1.02;
    for (const [awayFor, least] of outages) {
      const allowed = simulate(random, 600, awayFor);
      expect(fullestMinute(allowed) / 600).toBeLessThanOrEqual(most);
      expect(allowed.length / (6 * 600)).toBeGreaterThan(least);
    }
  }); // prettier-ignore

  it('finds a window that starts over when Redis goes away', () => {
    expect(fullestMinute(simulate(new Random(1), 600, () => 10, true)) / 600).toBeGreaterThan(1.1);
  });
});
