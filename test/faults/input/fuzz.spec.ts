import { FuzzTarget } from '../../support/fuzz/fuzz-target.js';

/** Promise 22 in full: 10,000 requests for each of fifteen operations. Takes about six minutes. */
const RUNS = 10;
const REQUESTS = 15_000;
const SEED = Number(process.env.SEED ?? Date.now() % 4_294_967_296);

describe('150,000 generated requests', () => {
  let target: FuzzTarget;

  // Each run gets its own fixtures, because runs delete records.
  beforeEach(async () => {
    target = await FuzzTarget.open();
  });
  afterEach(() => target.close());

  it.each(Array.from({ length: RUNS }, (_, run) => SEED + run))('seed %i: every answer meets the contract', (seed) => target.run(seed, REQUESTS));
});
