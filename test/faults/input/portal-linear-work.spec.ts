import { examineAll } from '../../support/faults/linear-work.js';
import { meteredPortal } from '../../support/portal/metered-portal.js';

/** Tries every nth position; 1 tries all. */
const STEP = Number(process.env.STEP ?? 1);

it('work and memory grow no faster than the length, wherever a browser decides it', { timeout: 7_200_000 }, async () => {
  const findings = await examineAll(await meteredPortal(), STEP, 'portal: ');
  expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
});
