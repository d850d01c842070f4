import { FuzzTarget } from '../support/fuzz-target.js';

/** Promise 22 with its number: 10,000 requests for each of the fifteen operations. Takes about six minutes. */
const RUNS = 10;
const REQUESTS = 15_000;
const SEED = Number(process.env.SEED ?? Date.now() % 4_294_967_296);

describe('150,000 generated requests', () => {
  let target: FuzzTarget;

  // A world of its own for each: what one run deletes the next one could not find.
  beforeEach(async () => {
    target = await FuzzTarget.open();
  });
  afterEach(() => target.close());

  it.each(Array.from({ length: RUNS }, (_, run) => SEED + run))('seed %i: answered as the contract says', (seed) =>
    target.run(seed, REQUESTS),
  );
});
