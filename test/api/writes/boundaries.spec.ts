import { Boundaries } from '../../support/faults/boundaries.js';
import { fixture } from '../../support/process/fixture.js';

/** A shorter run of test/faults/writes/boundaries.spec.ts: a few writes, cut at every tenth message. */
const EVERY = 10;

const boundaries = await fixture(Boundaries.open());

describe('a PostgreSQL connection lost in the middle of a write', () => {
  it.each(['POST /v1/students', 'POST /v1/blog-posts', 'PATCH /v1/blog-posts/:post_id'])(
    '%s has one effect and one answer after a retry',
    async (name) => {
      const write = boundaries.writes.find((one) => one.name === name)!;
      const walk = await boundaries.walk(write, EVERY);
      expect(walk.findings).toEqual([]);
      expect(walk.cuts).toBeGreaterThanOrEqual(2 * Math.floor(walk.recorded / EVERY));
      expect(walk.untold).toBeGreaterThan(0);
    },
  );
});
