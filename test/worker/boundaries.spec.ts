import { WorkerBoundaries } from '../support/worker/worker-boundaries.js';

/** A sample of test/faults/writes/boundaries.spec.ts: cuts at every nth message. */
const EVERY = 4;

describe('a connection to PostgreSQL that is cut while a mail is sent', () => {
  let boundaries: WorkerBoundaries;

  beforeAll(async () => {
    boundaries = await WorkerBoundaries.open();
  });
  afterAll(() => boundaries.close());

  it.each([
    ['and comes back', false],
    ['for good, so that another worker takes over', true],
  ])('%s loses no mail, and sends one twice only if its success was not stored', async (_, forGood) => {
    const { cuts, lost, findings } = await boundaries.walk({ forGood, every: EVERY });
    expect({ lost, findings }).toEqual({ lost: 0, findings: [] });
    expect(cuts).toBeGreaterThan(0);
  });
});
