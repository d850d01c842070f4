import { CONNECTIONS, findTrespass } from '../../support/faults/belonging-runs.js';
import { closeStage, openStage } from '../../support/faults/identity-runs.js';
import { reached } from '../../support/faults/promise.js';

/** Each batch has its own database, so that sequences do not slow down later ones. */
const BATCH = 40;
const SEQUENCES = 80;

const seed = Math.floor(Math.random() * 2 ** 28);

describe(`whoever is out is out (seed ${seed})`, () => {
  it.each(Array.from({ length: SEQUENCES / BATCH }, (_, batch) => seed + batch))(
    `in ${BATCH} random sequences of up to 12, from seed %d`,
    async (from) => {
      const stage = await openStage(CONNECTIONS);
      const trespass = await findTrespass(stage, { seed: from, runs: BATCH, longest: 12 }).finally(() => closeStage(stage));
      reached(51, `${BATCH} sequences of up to 12`, from);
      expect(trespass).toBeNull();
    },
  );
});
