import { Boundaries } from '../../support/faults/boundaries.js';

/** A shorter run of test/faults/writes/boundaries.spec.ts: a few writes, cut at every fifth message. */
const EVERY = 5;

describe('a PostgreSQL connection lost in the middle of a write', () => {
  let boundaries: Boundaries;

  beforeAll(async () => {
    boundaries = await Boundaries.open();
  });
  afterAll(() => boundaries.close());

  const named = (name: string) => boundaries.writes.find((write) => write.name === name)!;

  it.each(['POST /v1/students', 'POST /v1/blog-posts', 'PATCH /v1/blog-posts/:post_id'])(
    '%s has one effect and one answer after a retry',
    async (name) => {
      const walk = await boundaries.walk(named(name), EVERY);
      expect(walk.findings).toEqual([]);
      expect(walk.cuts).toBeGreaterThanOrEqual(2 * Math.floor(walk.recorded / EVERY));
      if (named(name).keyed) expect(walk.untold).toBeGreaterThan(0);
    },
  );

  it('fails this test if the key is stored in a different transaction from its effect', async () => {
    const takeOut = await boundaries.keepKeysApart();
    try {
      const { findings } = await boundaries.walk(named('POST /v1/blog-posts'), EVERY);
      expect(findings.length).toBeGreaterThan(0);
    } finally {
      await takeOut();
    }
  });
});
