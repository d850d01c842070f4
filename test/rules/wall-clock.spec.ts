import fc from 'fast-check';
import {
  addDays, dayOf, dayOfWeek, daysBetween, endOfDay, instantAt, occurrences, startOfDay,
} from '@app/scheduling'; // prettier-ignore

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Where clocks change by an hour, by half an hour, at midnight, not at all, or once skipped a whole day. */
const ZONES = [
  'Australia/Melbourne', 'Australia/Lord_Howe', 'Australia/Perth', 'America/New_York', 'America/St_Johns', 'America/Havana',
  'Africa/Cairo', 'Asia/Beirut', 'Asia/Kathmandu', 'Europe/Dublin', 'Pacific/Apia', 'Pacific/Chatham', 'Antarctica/Troll', 'UTC',
]; // prettier-ignore

const zones = fc.constantFrom(...ZONES);
const days = fc
  .integer({ min: Date.UTC(1990, 0, 1) / DAY_MS, max: Date.UTC(2040, 0, 1) / DAY_MS })
  .map((days) => new Date(days * DAY_MS).toISOString().slice(0, 10));
const clock = (minutes: number) => new Date(minutes * MINUTE_MS).toISOString().slice(11, 16);
const times = fc.integer({ min: 0, max: 24 * 60 - 1 }).map(clock);

/** What a clock on the wall shows, by the platform's own formatter. */
const shown = (at: Date, zone: string) => {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
  }).formatToParts(at); // prettier-ignore
  const part = (type: string) => parts.find((one) => one.type === type)!.value;
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`;
};

/** How many minutes the clock is ahead of UTC. */
const offsetAt = (at: Date, zone: string) => (Date.parse(`${shown(at, zone)}Z`) - at.getTime()) / MINUTE_MS;

/** All instants at which the clock shows this, the earliest first. */
const instantsOf = (local: string, zone: string): Date[] => {
  const utc = Date.parse(`${local}Z`);
  const offsets = [-1, 1].map((sign) => offsetAt(new Date(utc + sign * DAY_MS), zone));
  const found = [...new Set(offsets)].map((offset) => new Date(utc - offset * MINUTE_MS));
  return found.filter((at) => shown(at, zone) === local).sort((a, b) => a.getTime() - b.getTime());
};

describe('the instant of a time on the wall', () => {
  it.each([
    ['skipped: forward by the gap', '2026-10-04', '02:30', 'Australia/Melbourne', '2026-10-03T16:30:00.000Z'],
    ['doubled: the earlier', '2026-04-05', '02:30', 'Australia/Melbourne', '2026-04-04T15:30:00.000Z'],
    ['half an hour', '2026-10-04', '02:10', 'Australia/Lord_Howe', '2026-10-03T15:40:00.000Z'],
    ['24:00 before a skipped midnight', '2026-04-23', '24:00', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['24:00 on the last day', '9999-12-31', '24:00', 'America/New_York', '9999-12-31T23:59:59.999Z'],
  ])('%s', (_name, day, time, zone, instant) => {
    expect(instantAt(day, time, zone).toISOString()).toBe(instant);
  });

  it('shows that time; else the clock skipped it, and shows it plus the gap', () => {
    fc.assert(
      fc.property(days, times, zones, (day, time, zone) => {
        const local = `${day}T${time}`;
        const at = instantAt(day, time, zone);
        const [earliest] = instantsOf(local, zone);
        if (earliest) expect(at).toEqual(earliest);
        else {
          const gap = offsetAt(at, zone) - offsetAt(new Date(at.getTime() - 2 * DAY_MS), zone);
          expect(shown(at, zone)).toBe(new Date(Date.parse(`${local}Z`) + gap * MINUTE_MS).toISOString().slice(0, 16));
          expect(gap).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a day in a zone', () => {
  it('begins where the day before ends, and contains what shows it', () => {
    fc.assert(
      fc.property(days, times, zones, (day, time, zone) => {
        const [start, end] = [startOfDay(day, zone), endOfDay(day, zone)];
        expect(end.getTime() + 1).toBe(startOfDay(addDays(day, 1), zone).getTime());
        const hours = (end.getTime() + 1 - start.getTime()) / 3_600_000;
        // Apia skipped a day.
        const skipped = instantsOf(`${day}T12:00`, zone).length === 0;
        expect(hours).toBeGreaterThanOrEqual(skipped ? 0 : 22);
        expect(hours).toBeLessThanOrEqual(skipped ? 0 : 26);
        expect([dayOf(start, zone), dayOf(end, zone)]).toEqual([day, day]);
        expect(dayOf(new Date(start.getTime() - 1), zone) < day).toBe(true);
        for (const at of instantsOf(`${day}T${time}`, zone)) expect(at >= start && at <= end).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['Australia/Melbourne', 'America/New_York'])('stays within the calendar of the API in %s', (zone) => {
    expect(startOfDay('0001-01-01', zone).toISOString()).toMatch(/^0001-01-01T/);
    expect(endOfDay('9999-12-31', zone).toISOString()).toMatch(/^9999-12-31T/);
  });

  it('has a place in the week and in the calendar', () => {
    expect(['2026-10-04', '2026-10-05', '2026-10-10'].map(dayOfWeek)).toEqual([0, 1, 6]);
    expect([addDays('2026-02-28', 1), addDays('2024-03-01', -1)]).toEqual(['2026-03-01', '2024-02-29']);
    expect([daysBetween('2026-12-31', '2027-01-01'), daysBetween('2027-01-01', '2026-01-01')]).toEqual([1, -365]);
  });
});

describe('a series', () => {
  const everyWeeks = fc.integer({ min: 1, max: 4 });

  it('takes place at the same time of the wall clock, across both changes of the clocks', () => {
    const startsAt = instantAt('2026-09-01', '16:00', 'Australia/Melbourne');
    const found = occurrences({ startsAt, zone: 'Australia/Melbourne', everyWeeks: 1, count: 40 });
    expect(new Set(found.map((at) => shown(at, 'Australia/Melbourne').slice(11)))).toEqual(new Set(['16:00']));
    expect(new Set(found.map((at) => at.toISOString().slice(11, 16)))).toEqual(new Set(['06:00', '05:00']));
    expect(found).toHaveLength(40);
  });

  it('keeps the time of day of its first one after a week whose clocks skipped it', () => {
    const startsAt = instantAt('2026-09-27', '02:30', 'Australia/Melbourne');
    const found = occurrences({ startsAt, zone: 'Australia/Melbourne', everyWeeks: 1, count: 3 });
    expect(found.map((at) => shown(at, 'Australia/Melbourne').slice(11))).toEqual(['02:30', '03:30', '02:30']);
  });

  it('repeats every so many weeks, so many times, from its start', () => {
    fc.assert(
      fc.property(days, times, zones, everyWeeks, fc.integer({ min: 1, max: 60 }), (day, time, zone, weeks, count) => {
        const startsAt = instantAt(day, time, zone);
        const local = shown(startsAt, zone);
        const found = occurrences({ startsAt, zone, everyWeeks: weeks, count });
        expect(found[0]).toEqual(startsAt);
        expect(found).toHaveLength(count);
        for (const [index, at] of found.entries()) {
          if (index > 0) expect(at).toEqual(instantAt(addDays(local.slice(0, 10), 7 * weeks * index), local.slice(11), zone));
        }
      }),
    ); // prettier-ignore
  });

  it('repeats until an instant, which it may reach', () => {
    fc.assert(
      fc.property(days, times, zones, everyWeeks, fc.integer({ min: 2, max: 30 }), (day, time, zone, weeks, count) => {
        const once = { startsAt: instantAt(day, time, zone), zone, everyWeeks: weeks };
        const all = occurrences({ ...once, count });
        const last = all.at(-1)!;
        expect(occurrences({ ...once, until: last })).toEqual(all);
        expect(occurrences({ ...once, until: new Date(last.getTime() - 1) })).toEqual(all.slice(0, -1));
      }),
    );
  });
});
