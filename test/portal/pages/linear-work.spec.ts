import { Random } from '../../support/data/random.js';
import { type Metered, NOT_SQUARE, PROMISED, tell } from '../../support/load/metered.js';
import { meteredPortal } from '../../support/portal/metered-portal.js';

/** A sample of test/faults/input/portal-linear-work.spec.ts, without limits on time. */
const seed = Number(process.env.SEED ?? Date.now() % 4_294_967_296);

let portal: Metered;
beforeAll(async () => {
  portal = await meteredPortal();
});
afterAll(() => portal.close());

it(`seed ${seed}: work and memory grow no faster than what a browser sends`, async () => {
  const findings = await portal.examineSample(new Random(seed), NOT_SQUARE);
  console.log(`seed ${seed}\n${tell(findings).join('\n')}`);
  expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
});

it.each([
  ['hold', 24_000, /: blocked the event loop /],
  ['failure', 24_000, /: status 500/],
])('planted in the real portal, the oracle catches a %s', async (planted, most, complaint) => {
  await portal.plant(planted);
  const position = portal.positions.find(({ name }) => name === 'POST /sign-in email of letters')!;
  const { complaints } = await portal.examine({ ...position, most }, PROMISED, 2);
  expect(complaints).toContainEqual(expect.stringMatching(complaint));
});
