import { refuseCrossSite } from '../../../apps/portal/src/web/cross-site.js';
import type { IdentityFixture } from '../../support/faults/identity-model.js';
import { closeStage, CORPUS, findBreach, openStage, PLANTED, withBug } from '../../support/faults/identity-runs.js';

const PLANTED_RUN = { seed: 7, runs: CORPUS.length, longest: 10, fast: true };

let stage: IdentityFixture;
/** Fixed, so that what lands does not depend on luck; the fault runs try others. */
const seed = Number(process.env.SEED ?? 111_692_451);

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => closeStage(stage));

describe(`nobody becomes or sees somebody else (seed ${seed})`, () => {
  it('in random sequences and in the regression corpus', async () => {
    expect(await findBreach(stage, { seed, runs: 40, longest: 10 })).toBeNull();
  });

  it.each(Object.keys(PLANTED) as (keyof typeof PLANTED)[])('finds the planted bug %s', async (bug) => {
    await withBug(stage.api, bug, async () => {
      expect(await findBreach(stage, PLANTED_RUN)).not.toBeNull();
    });
  });

  it('finds the planted bug forms of other sites', async () => {
    const breach = await stage.portal.withoutMiddleware(refuseCrossSite, () => findBreach(stage, PLANTED_RUN));
    expect(breach?.why).toContain('a member without having accepted');
  });
});
