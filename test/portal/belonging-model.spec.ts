import { CONNECTIONS, CORPUS, findPlanted, findTrespass, MISWRITTEN, PLANTED, withStatement } from '../support/faults/belonging-runs.js';
import type { IdentityFixture } from '../support/faults/identity-model.js';
import { closeStage, openStage, withText } from '../support/faults/identity-runs.js';
import { batchesFrom, inReport, reached, seedOf } from '../support/faults/promise.js';

let stage: IdentityFixture;
const seed = seedOf();
const RUNS = inReport(40, CORPUS.length + 8);

beforeAll(async () => {
  stage = await openStage(CONNECTIONS);
});

afterAll(() => closeStage(stage));

describe(`whoever is out is out (seed ${seed})`, () => {
  it.each(batchesFrom(seed, 2))('in random sequences and in the regression corpus, from seed %d', async (from) => {
    if (from !== seed) {
      await closeStage(stage);
      stage = await openStage(CONNECTIONS);
    }
    expect(await findTrespass(stage, { seed: from, runs: RUNS, longest: 12 })).toBeNull();
    reached(51, `${RUNS} sequences of up to 12`, from);
  });

  it.each(Object.keys(PLANTED) as (keyof typeof PLANTED)[])('finds the planted bug %s', async (bug) => {
    const [place, ...text] = PLANTED[bug];
    await withText(stage.api, text, async () => {
      expect(await findPlanted(stage, place)).not.toBeNull();
    });
  });

  it.each(Object.keys(MISWRITTEN) as (keyof typeof MISWRITTEN)[])('finds the planted bug %s', async (bug) => {
    const [place, ...texts] = MISWRITTEN[bug];
    await withStatement(texts, async () => {
      expect(await findPlanted(stage, place)).not.toBeNull();
    });
  });
});
