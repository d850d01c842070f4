import { closeStage, findBreach, openStage } from '../../support/faults/identity-runs.js';
import { reached } from '../../support/faults/promise.js';

/** Each batch has its own database, so that sequences do not slow down later ones. */
const BATCH = 200;
const SEQUENCES = 600;

const seed = Math.floor(Math.random() * 2 ** 28);

describe(`nobody becomes, or sees, somebody else (seed ${seed})`, () => {
  it.each(Array.from({ length: SEQUENCES / BATCH }, (_, batch) => seed + batch))(
    `in ${BATCH} random sequences of up to 14, from seed %d`,
    async (from) => {
      const stage = await openStage();
      const breach = await findBreach(stage, { seed: from, runs: BATCH, longest: 14 }).finally(() => closeStage(stage));
      reached(45, `${BATCH} sequences of up to 14`, from);
      expect(breach).toBeNull();
    },
  );
});
