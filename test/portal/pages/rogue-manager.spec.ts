import { Rogue } from '../../support/faults/rogue.js';
import { fixture } from '../../support/process/fixture.js';

const rogue = await fixture(Rogue.open());

it.each([
  ['form', 'remove'],
  ['form', 'role'],
  ['bookings', 'remove'],
  ['leads', 'role'],
] as const)('an admin is ended while eight connections repeat a %s that holds them: %s', async (by, end) => {
  const { status, left } = await rogue.round(by, end);
  expect([status, left]).toEqual([303, end === 'role' ? 'tutor' : 'archived']);
});
