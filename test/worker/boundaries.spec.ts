import { WorkerBoundaries } from '../support/worker/worker-boundaries.js';

/** A small form of test/faults/boundaries.spec.ts: one of so many messages. */
const EVERY = 4;

describe('a connection to PostgreSQL that ends in the middle of a mail', () => {
  let boundaries: WorkerBoundaries;

  beforeAll(async () => {
    boundaries = await WorkerBoundaries.open();
  });
  afterAll(() => boundaries.close());

  it.each([
    ['and comes back', false],
    ['for good, so that another worker takes over', true],
  ])('%s loses no mail, and sends it twice only when its end was not stored', async (_, forGood) => {
    const { cuts, lost, findings } = await boundaries.walk({ forGood, every: EVERY });
    expect({ lost, findings }).toEqual({ lost: 0, findings: [] });
    expect(cuts).toBeGreaterThan(0);
  });
});
