import { NOT_SQUARE, PROMISED, tell } from '../../support/load/metered.js';
import { meteredApi } from '../../support/load/metered-api.js';
import { Random } from '../../support/data/random.js';
import { fixture } from '../../support/process/fixture.js';

/** A sample of test/faults/input/linear-work.spec.ts, without any check on time. */
/** Fixed, so that what lands does not depend on luck; the fault runs try others. */
const seed = Number(process.env.SEED ?? 20_260_501);

const api = await fixture(meteredApi());

it(`work and memory grow no faster than the request (seed ${seed})`, async () => {
  const findings = await api.examineSample(new Random(seed), NOT_SQUARE);
  console.log(`seed ${seed}\n${tell(findings).join('\n')}`);
  expect(findings.flatMap(({ complaints }) => complaints)).toEqual([]);
});

describe('the oracle catches what is planted in the real API', () => {
  it.each([
    ['time', 'a text that is read in quadratic time', 'body.first_name: letters', 60_000, /: (CPU|blocked the event loop) /],
    ['memory', 'a text that takes quadratic memory', 'body.last_name: letters', 24_000, /: memory /],
    ['hold', 'a text that holds the event loop', 'body.email: letters', 24_000, /: blocked the event loop /],
  ])('%s: %s', async (planted, _what, place, most, complaint) => {
    await api.plant(planted);
    const position = api.positions.find(({ name }) => name === `POST /v1/students ${place}`)!;
    // A planted fault shows every time.
    const { complaints } = await api.examine({ ...position, most }, PROMISED, 2);
    expect(complaints).toContainEqual(expect.stringMatching(complaint));
  });
});
