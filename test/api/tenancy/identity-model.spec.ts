import { refuseCrossSite } from '../../../apps/portal/src/web/cross-site.js';
import type { IdentityFixture } from '../../support/faults/identity-model.js';
import { closeStage, CORPUS, findBreach, openStage, PLANTED, withBug } from '../../support/faults/identity-runs.js';
import { batchesFrom, inReport, reached, seedOf } from '../../support/faults/promise.js';

const PLANTED_RUN = { seed: 7, runs: CORPUS.length, longest: 10, shrinks: false };

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
    await withBug(stage.api, bug, async () => {
      expect(await findBreach(stage, PLANTED_RUN)).not.toBeNull();
    });
  });

  it('finds the planted bug forms of other sites', async () => {
    const breach = await stage.portal.withoutMiddleware(refuseCrossSite, () => findBreach(stage, PLANTED_RUN));
    expect(breach).toContain('a member without having accepted');
  });
});
