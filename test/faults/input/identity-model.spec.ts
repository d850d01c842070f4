import type { IdentityFixture } from '../../support/faults/identity-model.js';
import { closeStage, findBreach, openStage, runAll } from '../../support/faults/identity-runs.js';
import { reached } from '../../support/faults/promise.js';

/** Each batch has its own database, so that sequences do not slow down later ones. */
const BATCH = 1_000;
const SEQUENCES = 20_000;

const seed = Math.floor(Math.random() * 2 ** 31);

async function onStage<T>(work: (stage: IdentityFixture) => Promise<T>): Promise<T> {
  const stage = await openStage();
  return work(stage).finally(() => closeStage(stage));
}

describe(`nobody becomes, or sees, somebody else (seed ${seed})`, () => {
  it('in all sequences of up to 4 commands', async () => {
    const runs = await onStage((stage) => runAll(stage, 4));
    reached(45, `${runs} sequences of up to 4 commands, equal states continued once`);
    expect(runs).toBeGreaterThan(1_000);
  });

  it.each(Array.from({ length: SEQUENCES / BATCH }, (_, batch) => seed + batch))(
    `in ${BATCH} random sequences of up to 14, from seed %d`,
    async (from) => {
      const breach = await onStage((stage) => findBreach(stage, { seed: from, runs: BATCH, longest: 14 }));
      reached(45, `${BATCH} sequences of up to 14`, from);
      expect(breach).toBeNull();
    },
  );
});
