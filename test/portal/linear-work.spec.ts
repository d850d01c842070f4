import { Random } from '../support/data/random.js';
import type { Position } from '../support/http/long-bodies.js';
import { type Bounds, type Finding, type Metered, tell } from '../support/http/metered.js';
import { meteredPortal } from '../support/portal/metered-portal.js';

/** A sample of test/faults/portal-linear-work.spec.ts, with bounds as in test/api/linear-work.spec.ts: nothing gates on time. */
const BOUNDS: Bounds = { ratio: 64, floor: { cpu: 5, memory: 4e6 }, hold: Infinity };
const SAMPLE = 12;

const seed = Number(process.env.SEED ?? Date.now() % 4_294_967_296);

let portal: Metered;
beforeAll(async () => {
  portal = await meteredPortal();
}, 120_000);
afterAll(() => portal.close());

function sampleOf(positions: Position[], random: Random): Position[] {
  return [...new Set(positions.map(({ family }) => family))].flatMap((family) => {
    const own = positions.filter((position) => position.family === family);
    return Array.from({ length: SAMPLE }, () => random.pick(own));
  });
}

it(`seed ${seed}: work and memory grow no faster than what a browser sends`, { timeout: 300_000 }, async () => {
  const findings: Finding[] = [];
  for (const position of sampleOf(portal.positions, new Random(seed))) findings.push(await portal.examine(position, BOUNDS));
  console.log(`seed ${seed}\n${tell(findings).join('\n')}`);
  expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
}); // prettier-ignore

it.each([
  ['hold', 24_000, /: blocked the event loop /],
  ['failure', 24_000, /: status 500/],
])('planted in the real portal, the oracle catches a %s', { timeout: 120_000 }, async (planted, most, complaint) => {
  await portal.plant(planted);
  const position = portal.positions.find(({ name }) => name === 'POST /sign-in email of letters')!;
  const bounds = { ratio: 24, floor: { cpu: 3, memory: 4e6 }, hold: 50 };
  const { complaints } = await portal.examine({ ...position, most }, bounds, 2);
  expect(complaints).toContainEqual(expect.stringMatching(complaint));
});
