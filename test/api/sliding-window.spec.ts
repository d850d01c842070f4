import { SlidingWindows, WINDOW_SECONDS } from '../../apps/api/src/http/rate-limit/sliding-window.js';
import { Random } from '../support/random.js';

const MINUTE = WINDOW_SECONDS * 1_000;
const SEEDS = [1, 2, Number(process.env.SEED ?? Date.now() % 4_294_967_296)];

/** The most hits that any window of a minute holds, wherever it begins. */
function fullestMinute(times: number[]): number {
  let first = 0;
  return times.reduce((most, time, index) => {
    while (times[first]! <= time - MINUTE) first++;
    return Math.max(most, index - first + 1);
  }, 0);
}

describe('the sliding window of one process', () => {
  it.each(SEEDS)('never lets a minute hold more than the limit, and tells the truth (seed %i)', (seed) => {
    const random = new Random(seed);
    for (let round = 0; round < 30; round++) {
      const windows = new SlidingWindows();
      const limit = 1 + random.integer(random.pick([3, 60, 700]));
      const allowed: number[] = [];
      let now = random.integer(10_000_000);
      for (let hit = 0; hit < 1_500; hit++) {
        // Bursts, steady streams, pauses, and arrivals right at the edge of a second or a minute.
        now += random.pick([0, 0, 1, 10, 100, 999, 1_000, 1_001, 5_000, MINUTE - 1, MINUTE, MINUTE + 1_000, random.integer(300)]);
        const met = windows.hit('a', limit, now);
        if (met.allowed) allowed.push(now);
        expect(met.used).toBeLessThanOrEqual(limit);
        expect(met.resetIn).toBeGreaterThanOrEqual(1);
        expect(met.resetIn).toBeLessThanOrEqual(WINDOW_SECONDS + 1);
        if (met.allowed || random.chance(0.95)) continue;
        // Waiting as long as told is enough.
        const replayed = new SlidingWindows();
        for (const time of allowed) replayed.hit('a', limit, time);
        expect(replayed.hit('a', limit, now + met.resetIn * 1_000).allowed).toBe(true);
        if (random.chance(0.5)) now += met.resetIn * 1_000;
      }
      expect(fullestMinute(allowed)).toBeLessThanOrEqual(limit);
    }
  }); // prettier-ignore

  it('lets through within 2 % of the limit, however much more is asked for', () => {
    for (const rate of [1.5, 5, 50]) {
      const windows = new SlidingWindows();
      let count = 0;
      for (let now = 0; now < 20 * MINUTE; now += MINUTE / (600 * rate))
        count += windows.hit('a', 600, now).allowed ? 1 : 0;
      expect(count / (20 * 600)).toBeGreaterThan(0.98);
      // The first minute's burst comes on top: 20 minutes hold the beginnings of 20 windows, and the last one's end.
      expect(count / (20 * 600)).toBeLessThanOrEqual(1);
    }
  });

  it('lets all through that stays below the limit', () => {
    const windows = new SlidingWindows();
    for (let now = 0; now < 10 * MINUTE; now += MINUTE / 585) expect(windows.hit('a', 600, now).allowed).toBe(true);
  });

  it('has no boundary that twice the limit fits around', () => {
    const windows = new SlidingWindows();
    const times = [59_900, 59_999, 60_000, 60_100].flatMap((time) => Array<number>(600).fill(time));
    expect(times.filter((time) => windows.hit('a', 600, time).allowed)).toHaveLength(600);
  });

  it('does not count what it refused: whoever keeps asking gets in as soon as one who waits', () => {
    const windows = new SlidingWindows();
    for (let now = 0; now < 61_000; now += 100) windows.hit('a', 5, now);
    expect(windows.hit('a', 5, 61_000)).toMatchObject({ allowed: true, used: 1 });
  });

  it('keeps keys apart', () => {
    const windows = new SlidingWindows();
    expect(windows.hit('a', 1, 0).allowed).toBe(true);
    expect(windows.hit('a', 1, 1).allowed).toBe(false);
    expect(windows.hit('b', 1, 2).allowed).toBe(true);
  });

  it('forgets the oldest key rather than grow without end', () => {
    const windows = new SlidingWindows();
    for (let key = 0; key <= 100_000; key++) windows.hit(String(key), 1, 0);
    expect(windows.hit('100000', 1, 0).allowed).toBe(false);
    expect(windows.hit('0', 1, 0).allowed).toBe(true);
  });

  it('runs on a clock that nobody sets: the system’s going back an hour locks nobody out', () => {
    const windows = new SlidingWindows();
    windows.hit('a', 1);
    const today = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(today - 3_600_000);
    expect(windows.hit('a', 1).resetIn).toBeLessThanOrEqual(WINDOW_SECONDS + 1);
    vi.restoreAllMocks();
  });
});
