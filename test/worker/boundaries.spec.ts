import { WorkerBoundaries } from '../support/worker/worker-boundaries.js';
import { fixture } from '../support/process/fixture.js';

/** A sample of test/faults/writes/boundaries.spec.ts: cuts at every nth message. */
const EVERY = 8;

const boundaries = await fixture(WorkerBoundaries.open());

describe('a connection to PostgreSQL that is cut while a mail is sent', () => {
  it.each([
    ['and comes back', false],
    ['for good, so that another worker takes over', true],
  ])('%s loses no mail, and sends one twice only if its success was not stored', async (_, forGood) => {
    const { cuts, lost, findings } = await boundaries.walk({ forGood, every: EVERY });
    expect({ lost, findings }).toEqual({ lost: 0, findings: [] });
    expect(cuts).toBeGreaterThan(0);
  });
});
