import fc from 'fast-check';
import { bestCell, commonRate, kindOf, type RateCell, type SessionKind } from '../../libs/scheduling/src/rates.js';
import { settle } from '../../libs/scheduling/src/settling.js';

const KINDS: SessionKind[] = ['1on1_online', '1on1_inperson', 'group', 'classroom'];
const KEYS = ['bandId', 'tierId', 'subjectId', 'kind'] as const;

const key = fc.constantFrom(null, 'a', 'b');
const cents = fc.option(fc.integer({ min: 0, max: 20_000 }));
const cell: fc.Arbitrary<RateCell> = fc.record({
  bandId: key,
  tierId: key,
  subjectId: key,
  kind: fc.constantFrom(null, ...KINDS),
  rateCents: cents,
  surchargeCents: cents,
  payMode: fc.constantFrom(null, 'percentage' as const, 'flat' as const),
  payPct: fc.constant(60),
  flatRateCents: cents,
});
/** As the table's unique index has it. */
const cells = fc.uniqueArray(cell, { selector: (one) => KEYS.map((name) => one[name]).join(), maxLength: 40 });
const session = fc.record({ tierId: key, subjectId: key, kind: fc.constantFrom(...KINDS), inPerson: fc.boolean() });

describe('the best cell', () => {
  it('fits, and no other that fits is more specific', () => {
    fc.assert(
      fc.property(cells, key, session, (all, bandId, wanted) => {
        const fits = (one: RateCell) => KEYS.every((name) => one[name] === null || one[name] === { bandId, ...wanted }[name]);
        const best = bestCell(all, bandId, wanted);
        const fitting = all.filter(fits);
        expect(best === null).toBe(fitting.length === 0);
        for (const other of fitting) {
          // The first key that only one of the two names decides.
          const decisive = KEYS.find((name) => (other[name] === null) !== (best![name] === null));
          if (decisive) expect(best![decisive]).not.toBeNull();
        }
        expect(bestCell([...all].reverse(), bandId, wanted)).toEqual(best);
      }),
    );
  });
});

describe('settling', () => {
  const students = fc.uniqueArray(fc.record({ id: fc.uuid(), bandId: key }), { selector: ({ id }) => id, minLength: 1, maxLength: 5 });
  const terms = fc.record({ tierId: key, groupRateCents: cents, students, cells });
  const subject = fc.record({ subjectId: key, mode: fc.constantFrom(null, 'online', 'in_person'), groupId: key, classroomId: key });

  it('gives every student one place, at the rate that the request names', () => {
    fc.assert(
      fc.property(terms, subject, fc.integer({ min: 0, max: 9_000 }), (found, what, rate) => {
        const { participants } = settle(found, what, rate);
        expect(participants.map(({ studentId }) => studentId)).toEqual(found.students.map(({ id }) => id));
        expect(new Set(participants.map(({ rateCents, rateGiven }) => `${rateCents} ${rateGiven}`))).toEqual(new Set([`${rate} true`]));
        expect(commonRate(participants)).toBe(rate);
      }),
    );
  });

  it('keeps what was set, and nothing else', () => {
    fc.assert(
      fc.property(terms, subject, cents, fc.boolean(), (found, what, rateCents, rateGiven) => {
        const before = found.students.slice(0, 1).map(({ id }) => ({ studentId: id, rateCents, rateGiven: rateGiven && rateCents !== null }));
        const [fresh, kept] = [settle(found, what), settle(found, what, undefined, before)];
        expect(kept.participants.slice(1)).toEqual(fresh.participants.slice(1));
        expect(kept.participants[0]!.rateCents).toBe(before[0]!.rateGiven ? rateCents : fresh.participants[0]!.rateCents);
        expect(settle(found, what, null, before)).toEqual(fresh);
        if (what.mode !== 'in_person') expect(kept.participants.every(({ surchargeCents }) => surchargeCents === null)).toBe(true);
      }),
    );
  });
});

it('the kind is that of the place, else of the number of students, else of the mode', () => {
  const alone = { classroom: false, group: false, students: 1, mode: null };
  expect(kindOf({ ...alone, classroom: true, group: true })).toBe('classroom');
  expect(kindOf({ ...alone, group: true })).toBe('group');
  expect(kindOf({ ...alone, students: 2 })).toBe('group');
  expect(kindOf({ ...alone, mode: 'in_person' })).toBe('1on1_inperson');
  expect(kindOf(alone)).toBe('1on1_online');
});
