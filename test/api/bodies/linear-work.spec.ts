import { growsLinearly, PROMISED } from '../../support/load/metered.js';
import { meteredApi } from '../../support/load/metered-api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(meteredApi());

growsLinearly('the API', api);

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
