import { refuseCrossSite } from '../../../apps/portal/src/web/cross-site.js';
import type { IdentityFixture } from '../../support/faults/identity-model.js';
import { closeStage, findBreach, findPlanted, openStage, PLANTED, withText } from '../../support/faults/identity-runs.js';
import { batchesFrom, inReport, reached, seedOf } from '../../support/faults/promise.js';

let stage: IdentityFixture;
const seed = seedOf();
const [RUNS, LONGEST] = [inReport(200, 25), inReport(14, 10)];

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => closeStage(stage));

describe(`nobody becomes or sees somebody else (seed ${seed})`, () => {
  it.each(batchesFrom(seed, 3))('in random sequences and in the regression corpus, from seed %d', async (from) => {
    if (from !== seed) {
      await closeStage(stage);
      stage = await openStage();
    }
    expect(await findBreach(stage, { seed: from, runs: RUNS, longest: LONGEST })).toBeNull();
    reached(45, `${RUNS} sequences of up to ${LONGEST}`, from);
  });

  it.each(Object.keys(PLANTED) as (keyof typeof PLANTED)[])('finds the planted bug %s', async (bug) => {
    const [place, ...text] = PLANTED[bug];
    await withText(stage.api, text, async () => {
      expect(await findPlanted(stage, place)).not.toBeNull();
    });
  });

  it('finds the planted bug forms of other sites', async () => {
    const breach = await stage.portal.withoutMiddleware(refuseCrossSite, () => findPlanted(stage, 6));
    expect(breach).toContain('a member without having accepted');
  });
});
