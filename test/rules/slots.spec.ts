import fc from 'fast-check';
import {
  addDays, type Calendar, dayOf, dayOfWeek, instantAt, overlappingRules, overlaps, slots, startOfDay, type WeeklyHours,
} from '@app/scheduling'; // prettier-ignore

/** The result of a computation that yields between its steps. */
function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const MELBOURNE = 'Australia/Melbourne';
const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;

const rule = (dayOfWeek: number, startTime: string, endTime: string, timezone = MELBOURNE): WeeklyHours => ({
  dayOfWeek,
  startTime,
  endTime,
  timezone,
});

/** The starts of the slots on a day in Melbourne, long before it. */
function starts(rules: WeeklyHours[], day: string, more: Partial<Calendar> = {}): string[] {
  const calendar = { rules, busy: [], timeOff: [], from: day, to: day, duration: 60, now: new Date(0), zone: MELBOURNE };
  return atOnce(slots({ ...calendar, ...more })).map(({ startsAt }) => startsAt.toISOString());
} // prettier-ignore

describe('slots', () => {
  const SUNDAY = '2027-05-02';

  it('start on every quarter hour within the weekly hours', () => {
    const found = starts([rule(0, '01:00', '04:00')], SUNDAY);
    expect(found).toHaveLength(9);
    expect([found[0], found.at(-1)]).toEqual(['2027-05-01T15:00:00.000Z', '2027-05-01T17:00:00.000Z']);
    expect(starts([rule(0, '01:10', '02:20')], SUNDAY)).toEqual(['2027-05-01T15:15:00.000Z']);
    expect(starts([rule(1, '01:00', '04:00')], SUNDAY)).toEqual([]);
  });

  it('leave out sessions and time off, and begin now', () => {
    const rules = [rule(0, '01:00', '04:00')];
    const busy = [{ startsAt: new Date('2027-05-01T15:20Z'), endsAt: new Date('2027-05-01T16:00Z') }];
    expect(starts(rules, SUNDAY, { busy })[0]).toBe('2027-05-01T16:00:00.000Z');
    expect(starts(rules, SUNDAY, { busy, duration: 20 })).toContain('2027-05-01T15:00:00.000Z');
    expect(starts(rules, SUNDAY, { timeOff: [{ startsOn: '2027-05-01', endsOn: SUNDAY }] })).toEqual([]);
    expect(starts(rules, SUNDAY, { timeOff: [{ startsOn: '2027-05-03', endsOn: '2027-05-03' }] })).toHaveLength(9);
    expect(starts(rules, SUNDAY, { now: new Date('2027-05-01T16:45:00Z') })).toHaveLength(2);
    expect(starts(rules, SUNDAY, { now: new Date('2027-05-01T16:45:00.001Z') })).toHaveLength(1);
  });

  it('may span hours that touch, overlap, or meet at midnight', () => {
    expect(starts([rule(0, '01:00', '01:30'), rule(0, '01:30', '02:00')], SUNDAY)).toEqual(['2027-05-01T15:00:00.000Z']);
    const midnight = [rule(0, '23:00', '24:00'), rule(1, '00:00', '00:30')];
    expect(starts(midnight, SUNDAY)).toEqual(['2027-05-02T13:00:00.000Z', '2027-05-02T13:15:00.000Z', '2027-05-02T13:30:00.000Z']);
    expect(starts(midnight.slice(0, 1), SUNDAY)).toEqual(['2027-05-02T13:00:00.000Z']);
    // 01:00 to 02:00 in Perth is 03:00 to 04:00 in Melbourne.
    expect(starts([rule(0, '01:00', '02:00', 'Australia/Perth')], SUNDAY)).toEqual(['2027-05-01T17:00:00.000Z']);
  }); // prettier-ignore

  it.each([
    ['lose the hour that the clocks skip', '2026-10-04', '01:00', '04:00', 5],
    ['gain the hour that the clocks repeat', '2026-04-05', '01:00', '04:00', 13],
    ['vanish with hours that are skipped', '2026-10-04', '02:00', '03:00', 0],
    ['keep what follows a skipped start', '2026-10-04', '02:00', '04:00', 1],
    ['keep what precedes a skipped end', '2026-10-04', '01:00', '02:30', 3],
    ['begin at the earlier of two starts', '2026-04-05', '02:30', '03:30', 5],
    ['end at the earlier of two ends', '2026-04-05', '01:00', '02:30', 3],
  ])('%s', (_name, day, from, to, count) => {
    expect(starts([rule(0, from, to)], day)).toHaveLength(count);
  });

  it('reach the last day of the calendar', () => {
    expect(starts([rule(dayOfWeek('9999-12-31'), '00:00', '24:00')], '9999-12-31')).toHaveLength(93);
    const newYork = { zone: 'America/New_York', to: '9999-12-31' };
    const late = [rule(5, '00:00', '24:00', 'America/New_York')];
    expect(starts(late, '9999-12-30', newYork).at(-1)).toBe('9999-12-31T22:45:00.000Z');
  });
});

describe('the slots of any calendar', () => {
  const zones = fc.constantFrom(MELBOURNE, 'Australia/Lord_Howe', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Pago_Pago', 'Pacific/Kiritimati'); // prettier-ignore
  const clock = (five: number) => (five === 288 ? '24:00' : new Date(five * 5 * MINUTE_MS).toISOString().slice(11, 16));
  const rules = fc.array(
    fc
      .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 287 }), fc.integer({ min: 1, max: 288 }), zones)
      .map(([day, one, other, zone]) => rule(day, clock(Math.min(one, other)), clock(one === other ? one + 1 : Math.max(one, other)), zone)),
    { maxLength: 6 },
  ); // prettier-ignore
  // Around both changes of the clocks in the north and in the south.
  const days = fc
    .tuple(fc.constantFrom('2026-04-05', '2026-10-04', '2026-03-08', '2026-11-01'), fc.integer({ min: -3, max: 2 }))
    .map(([day, shift]) => addDays(day, shift));
  const calendars = fc
    .record({
      rules, zone: zones, from: days, length: fc.integer({ min: 0, max: 2 }), duration: fc.constantFrom(5, 45, 60, 95, 720),
      taken: fc.array(fc.tuple(fc.integer({ min: -1_000, max: 5_000 }), fc.integer({ min: 1, max: 300 })), { maxLength: 6 }),
      off: fc.array(fc.tuple(fc.integer({ min: -2, max: 3 }), fc.integer({ min: 0, max: 1 })), { maxLength: 1 }),
      now: fc.integer({ min: -3_000, max: 3_000 }),
    })
    .map(({ rules, zone, from, length, duration, taken, off, now }): Calendar => {
      const at = (minutes: number) => new Date(startOfDay(from, zone).getTime() + minutes * MINUTE_MS);
      return {
        rules, zone, from, to: addDays(from, length), duration, now: at(now),
        busy: taken.map(([start, minutes]) => ({ startsAt: at(start), endsAt: at(start + minutes) })),
        timeOff: off.map(([start, more]) => ({ startsOn: addDays(from, start), endsOn: addDays(from, start + more) })),
      };
    }); // prettier-ignore

  /** Asks of each quarter hour whether a lesson could begin, and of each five minutes whether it could go on. */
  function expected({ rules, busy, timeOff, from, to, duration, now, zone }: Calendar): number[] {
    const around = Array.from({ length: 11 }, (_, index) => addDays(from, index - 4));
    const open = rules.flatMap(({ dayOfWeek: wanted, startTime, endTime, timezone }) =>
      around
        .filter((day) => dayOfWeek(day) === wanted)
        .map((day) => [instantAt(day, startTime, timezone).getTime(), instantAt(day, endTime, timezone).getTime()]),
    );
    const isOpen = (at: number) => open.some(([start, end]) => start! <= at && at < end!);
    const isOff = (at: number) => {
      const day = dayOf(new Date(at), zone);
      return timeOff.some(({ startsOn, endsOn }) => startsOn <= day && day <= endsOn);
    };
    const found: number[] = [];
    const end = startOfDay(addDays(to, 1), zone).getTime();
    for (let at = startOfDay(from, zone).getTime(); at < end; at += QUARTER_MS) {
      const lesson = { startsAt: new Date(at), endsAt: new Date(at + duration * MINUTE_MS) };
      const minutes = Array.from({ length: duration / 5 }, (_, index) => at + index * 5 * MINUTE_MS);
      if (lesson.startsAt < now || !isOpen(at) || !isOpen(lesson.endsAt.getTime() - 1)) continue;
      if (busy.some((session) => overlaps(lesson, session)) || !minutes.every(isOpen)) continue;
      if (timeOff.length === 0 || !minutes.some(isOff)) found.push(at);
    }
    return found;
  }

  it('are those in which a lesson can begin and go on to its end', () => {
    let offered = 0;
    fc.assert(
      fc.property(calendars, (calendar) => {
        const found = atOnce(slots(calendar));
        offered += found.length;
        expect(found.map(({ startsAt }) => startsAt.getTime())).toEqual(expected(calendar));
        for (const { startsAt, endsAt } of found) {
          expect(endsAt.getTime() - startsAt.getTime()).toBe(calendar.duration * MINUTE_MS);
        }
      }),
      { numRuns: 400 },
    );
    expect(offered).toBeGreaterThan(1_000);
  });
});

describe('weekly hours', () => {
  it('overlap on the same day of the same zone, unless they touch', () => {
    const found = overlappingRules([
      rule(1, '09:00', '12:00'),
      rule(1, '08:00', '09:00'),
      rule(1, '11:59', '13:00'),
      rule(1, '12:00', '24:00'),
      rule(2, '09:00', '12:00'),
      rule(1, '09:00', '12:00', 'Australia/Perth'),
      rule(1, '00:00', '24:00', 'Australia/Hobart'),
      rule(1, '10:00', '10:05', 'Australia/Hobart'),
      rule(1, '23:00', '23:05', 'Australia/Hobart'),
    ]);
    expect(found).toEqual([2, 3, 7, 8]);
  });
});
