import { reached } from '../support/faults/promise.js';
import { type Bounds, type Finding, tell } from '../support/http/metered.js';
import { meteredPortal } from '../support/portal/metered-portal.js';

/** The bounds of promise 41, at the portal's positions. */
const BOUNDS: Bounds = { ratio: 24, floor: { cpu: 3, memory: 4e6 }, hold: 50 };
/** Every so many-th position; 1 for all of them. */
const STEP = Number(process.env.STEP ?? 1);

it(
  'work and memory grow no faster than the length, wherever a browser decides it',
  { timeout: 7_200_000 },
  async () => {
    const portal = await meteredPortal();
    const positions = portal.positions.filter((_, index) => index % STEP === 0);
    const findings: Finding[] = [];
    try {
      for (const position of positions) {
        const finding = await portal.examine(position, BOUNDS);
        findings.push(finding);
        if (finding.complaints.length > 0) console.log(finding.complaints.join('\n'));
      }
    } finally {
      await portal.close();
      console.log(tell(findings).join('\n'));
      const failing = findings.filter(({ complaints }) => complaints.length > 0).length;
      reached(41, `portal: ${findings.length} of ${positions.length} positions, ${failing} over their bounds`);
    }
    expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
  },
);
