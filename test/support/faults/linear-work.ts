import { type Finding, type Metered, PROMISED, tell } from '../load/metered.js';
import { reached } from './promise.js';

/**
 * Checks positions against the bounds of promise 41, then closes the process. Prints complaints as they come, and the
 * figures even if the run ends early.
 *
 * @param step checks only every nth position
 * @param whose prefix of the figures
 */
export async function examineAll(metered: Metered, step = 1, whose = ''): Promise<Finding[]> {
  const positions = metered.positions.filter((_, index) => index % step === 0);
  const findings: Finding[] = [];
  try {
    for (const position of positions) {
      const finding = await metered.examine(position, PROMISED);
      findings.push(finding);
      if (finding.complaints.length > 0) console.log(finding.complaints.join('\n'));
    }
  } finally {
    await metered.close();
    console.log(tell(findings).join('\n'));
    const failing = findings.filter(({ complaints }) => complaints.length > 0).length;
    reached(41, `${whose}${findings.length} of ${positions.length} positions, ${failing} over their bounds`);
  }
  return findings;
}
