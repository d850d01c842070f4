import fc from 'fast-check';
import { type Candidate, MOST, ranked, type Wish } from '../../libs/enquiries/src/score.js';

const WISH: Wish = {
  subject: 'Physics',
  mode: 'in_person',
  days: ['monday', 'thursday'],
  times: { monday: ['16:00-18:00'] },
  minutes: 60,
  postcode: '9001',
};
const DAY = 1_440;
const at = (day: number, from: number, to: number) => [day * DAY + from * 60, day * DAY + to * 60] as const;
const HOURS = [at(1, 15, 19), at(4, 9, 10)];
const IDEAL: Candidate = { id: 'a', teaches: true, mode: 'both', hours: HOURS, upcoming: 0, distanceKm: 0, roadMinutes: null, covers: true };
const of = (candidate: Partial<Candidate>, wish: Partial<Wish> = {}) => ranked({ ...WISH, ...wish }, [{ ...IDEAL, ...candidate }])[0]!;

const wishes: fc.Arbitrary<Wish> = fc.record({
  subject: fc.option(fc.constant('Physics')),
  mode: fc.constantFrom(null, 'online', 'in_person', 'either'),
  days: fc.subarray(['monday', 'thursday', 'sunday']),
  times: fc.constantFrom<Wish['times'][]>({}, { monday: ['16:00-18:00'] }, { saturday: ['23:00-24:00', '08:00-09:00'] }),
  minutes: fc.option(fc.integer({ min: 5, max: 720 })),
  postcode: fc.option(fc.constant('9001')),
});
const hours = fc
  .tuple(fc.integer({ min: -DAY, max: 7 * DAY }), fc.integer({ min: 1, max: DAY }))
  .map(([from, length]) => [from, from + length] as const);
const candidates: fc.Arbitrary<Candidate[]> = fc.uniqueArray(
  fc.record({
    id: fc.uuid(),
    teaches: fc.boolean(),
    mode: fc.constantFrom(null, 'online', 'in_person', 'both'),
    hours: fc.array(hours, { maxLength: 6 }),
    upcoming: fc.nat(200),
    distanceKm: fc.option(fc.integer({ min: 0, max: 3_000 }).map((tenths) => tenths / 10)),
    roadMinutes: fc.option(fc.nat(240)),
    covers: fc.boolean(),
  }),
  { selector: ({ id }) => id, maxLength: 12 },
);

describe('the score', () => {
  it('has parts that add up to at most 100, and descends; who does not teach the subject comes last', () => {
    fc.assert(
      fc.property(wishes, candidates, (wish, all) => {
        const found = ranked(wish, all);
        for (const { score, breakdown } of found) {
          expect(Object.values(breakdown).reduce((sum, part) => sum + part, 0)).toBe(score);
          for (const [part, points] of Object.entries(breakdown)) expect(points >= 0 && points <= MOST[part as keyof typeof MOST]).toBe(true);
        }
        const order = found.map(({ score, candidate }) => ({ score, ...candidate }));
        for (const [place, next] of order.slice(1).entries()) {
          const one = order[place]!;
          expect(one.score).toBeGreaterThanOrEqual(next.score);
          expect(one.teaches || !next.teaches).toBe(true);
          if (one.score === next.score) expect(one.upcoming < next.upcoming || (one.upcoming === next.upcoming && one.id < next.id)).toBe(true);
        }
        expect(ranked(wish, all.toReversed())).toEqual(found);
      }),
    );
    expect(Object.values(MOST).reduce((sum, part) => sum + part, 0)).toBe(100);
  });

  it('is 100 for whoever suits in every way, and says why', () => {
    expect(of({})).toMatchObject({
      score: 100,
      reasons: ['Teaches Physics', 'Has time on 2 of 2 preferred days', 'Teaches in person', '0 sessions ahead', '0 km away', 'Teaches in 9001'],
    });
  });

  it.each<[string, Partial<Candidate>, Partial<Wish>, Partial<Record<keyof typeof MOST, number>>]>([
    ['another subject halves the rest', { teaches: false }, {}, { subject: 0, availability: 13, mode: 8, capacity: 5, distance: 5 }],
    ['no subject is everybody’s', {}, { subject: null }, { subject: 40 }],
    ['one day of two', { hours: [at(1, 15, 19)] }, {}, { availability: 13 }],
    ['hours beside the wished ones', { hours: [at(1, 9, 16), at(1, 18, 21)] }, {}, { availability: 0 }],
    ['too short a part of the wished ones', { hours: [at(1, 17.5, 21)] }, { days: ['monday'] }, { availability: 0 }],
    ['hours that touch are one', { hours: [at(1, 16, 16.5), at(1, 16.5, 17)] }, { days: ['monday'] }, { availability: 25 }],
    ['hours of the week’s end that reach into its start', { hours: [at(6, 23, 25)] }, { days: ['sunday'], times: {} }, { availability: 25 }],
    ['hours of elsewhere that begin before the week', { hours: [at(0, -2, 1)] }, { days: ['saturday'], times: {} }, { availability: 25 }],
    ['no preferred day, but hours', {}, { days: [], times: {} }, { availability: 25 }],
    ['no hours at all', { hours: [] }, { days: [], times: {} }, { availability: 0 }],
    ['the other way of teaching', { mode: 'online' }, {}, { mode: 0 }],
    ['an unknown way of teaching', { mode: null }, {}, { mode: 0 }],
    ['either way', { mode: 'online' }, { mode: 'either' }, { mode: 15 }],
    ['twenty sessions ahead', { upcoming: 20 }, {}, { capacity: 5 }],
    ['25 km', { distanceKm: 25 }, {}, { distance: 5 }],
    ['far away', { distanceKm: 60 }, {}, { distance: 0 }],
    ['nobody knows how far', { distanceKm: null }, {}, { distance: 0 }],
    ['online, distance does not matter', { distanceKm: null }, { mode: 'online' }, { distance: 10 }],
  ])('%s', (_, candidate, wish, parts) => {
    expect(of(candidate, wish).breakdown).toMatchObject(parts);
  });
});
