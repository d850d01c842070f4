import { type Bounds, type Finding, tell } from '../support/http/metered.js';
import { meteredApi } from '../support/http/metered-api.js';
import { reached } from '../support/faults/promise.js';

/** The bounds of promise 41. Ratios compare costs within one process; costs inflated by other load are measured again. */
const BOUNDS: Bounds = { ratio: 24, floor: { cpu: 3, memory: 4e6 }, hold: 50 };

/** Covers all of about 6,000 positions, so there is no seed. Takes a quarter of an hour on an idle machine. */
it('work and memory grow no faster than the length, wherever a caller decides it', { timeout: 7_200_000 }, async () => {
  const api = await meteredApi();
  const findings: Finding[] = [];
  try {
    for (const position of api.positions) {
      const finding = await api.examine(position, BOUNDS);
      findings.push(finding);
      if (finding.complaints.length > 0) console.log(finding.complaints.join('\n'));
    }
  } finally {
    await api.close();
    console.log(tell(findings).join('\n'));
    const failing = findings.filter(({ complaints }) => complaints.length > 0).length;
    reached(41, `${findings.length} of ${api.positions.length} positions, ${failing} over their bounds`);
  }
  expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
});
