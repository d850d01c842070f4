import type { Position } from '../support/long-requests.js';
import { type Bounds, type Finding, MeteredApi, tell } from '../support/metered-api.js';
import { Random } from '../support/random.js';

/**
 * A sample of test/faults/linear-work.spec.ts: nothing gates on time. What grows with the square of its length costs 256
 * times as much at 16 times the length.
 */
const BOUNDS: Bounds = { ratio: 64, floor: { cpu: 5, memory: 4e6 }, hold: Infinity };

const seed = Number(process.env.SEED ?? Date.now() % 4_294_967_296);

/** So many of each family, by chance. */
const SAMPLE = 12;

function sampleOf(positions: Position[], random: Random): Position[] {
  const families = new Set(positions.map(({ family }) => family));
  return [...families].flatMap((family) => {
    const own = positions.filter((position) => position.family === family);
    return Array.from({ length: SAMPLE }, () => random.pick(own));
  });
}

async function examine(api: MeteredApi, positions: Position[], bounds: Bounds): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const position of positions) findings.push(await api.examine(position, bounds));
  return findings;
}

it(`seed ${seed}: work and memory grow no faster than what a caller sends`, { timeout: 300_000 }, async () => {
  const api = await MeteredApi.open();
  try {
    const findings = await examine(api, sampleOf(api.positions, new Random(seed)), BOUNDS);
    console.log(`seed ${seed}\n${tell(findings).join('\n')}`);
    expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
  } finally {
    await api.close();
  }
});

describe('planted in the real API, the oracle catches', () => {
  const textOf = (field: string, most: number) => (positions: Position[]) => ({
    ...positions.find(({ name }) => name === `POST /v1/students body.${field}: letters`)!,
    most,
  });
  const names = (positions: Position[]) => ({
    ...positions.find(({ name }) => name === 'POST /v1/students body: unknown names')!,
    most: 80_000,
  });

  it.each([
    ['time', 'a text that is read in quadratic time', textOf('first_name', 120_000), /: CPU /],
    ['names', 'an object whose names are looked up in a list', names, /: (CPU|held the event loop) /],
    ['memory', 'a text that takes its square in memory', textOf('last_name', 24_000), /: memory /],
    ['hold', 'a text that holds the event loop', textOf('email', 24_000), /: held the event loop /],
    ['failure', 'a text that is too long for something', textOf('phone', 24_000), /: status 500/],
  ])('%s: %s', { timeout: 120_000 }, async (planted, _what, choose, complaint) => {
    // What the real numbers are, for all of them.
    const bounds = { ratio: 24, floor: { cpu: 3, memory: 4e6 }, hold: 50 };
    const api = await MeteredApi.open(planted);
    try {
      const [finding] = await examine(api, [choose(api.positions)], bounds);
      expect(finding!.complaints).toContainEqual(expect.stringMatching(complaint));
    } finally {
      await api.close();
    }
  });
});
