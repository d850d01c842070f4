import { examineAll } from '../../support/faults/linear-work.js';
import { meteredApi } from '../../support/load/metered-api.js';

/** Covers all of about 6,000 positions, so there is no seed. Takes a quarter of an hour on an idle machine. */
it('work and memory grow no faster than the length, wherever a caller decides it', { timeout: 7_200_000 }, async () => {
  const findings = await examineAll(await meteredApi());
  expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
});
