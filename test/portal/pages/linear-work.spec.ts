import { Random } from '../../support/data/random.js';
import { NOT_SQUARE, tell } from '../../support/load/metered.js';
import { meteredPortal } from '../../support/portal/metered-portal.js';
import { fixture } from '../../support/process/fixture.js';

/** A sample of test/faults/input/portal-linear-work.spec.ts, without limits on time. */
/** Fixed, so that what lands does not depend on luck; the fault runs try others. */
const seed = Number(process.env.SEED ?? 20_260_501);

const portal = await fixture(meteredPortal());

it(`seed ${seed}: work and memory grow no faster than what a browser sends`, async () => {
  const findings = await portal.examineSample(new Random(seed), NOT_SQUARE);
  console.log(`seed ${seed}\n${tell(findings).join('\n')}`);
  expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
});
