import { inReport, reached } from '../../support/faults/promise.js';
import { Rogue } from '../../support/faults/rogue.js';
import { fixture } from '../../support/process/fixture.js';

const rogue = await fixture(Rogue.open());
const REST = [['bookings', 'role'] as const, ['leads', 'remove'] as const]; // prettier-ignore

it.each([['form', 'remove'], ['form', 'role'], ['bookings', 'remove'], ['leads', 'role'], ...inReport(REST, [])] as const)(
  'an admin is ended while eight connections repeat a %s that holds them: %s',
  async (by, end) => {
    const took: number[] = [];
    for (let round = 0; round < inReport(10, 1); round++) {
      const { status, ms, left } = await rogue.round(by, end);
      expect([status, left]).toEqual([303, end === 'role' ? 'tutor' : 'archived']);
      took.push(ms);
    }
    expect(Math.max(...took)).toBeLessThan(inReport(5_000, Infinity));
    reached(56, `${by}, ${end}: ${took.length} of ${took.length}, worst ${Math.max(...took)} ms`);
  },
);
