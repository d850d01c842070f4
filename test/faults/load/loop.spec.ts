import { holdsOfApi, holdsOfPortal, told } from '../../support/load/holds.js';

const MUCH = { rows: 200, people: 2_000, text: 20_000, listed: 20_000, tries: 3 };
/** Milliseconds in one piece. */
const MOST = 50;

it.each([
  ['API', holdsOfApi],
  ['portal', holdsOfPortal],
])('no GET of the %s holds the event loop for long', async (app, holdsOf) => {
  const holds = await holdsOf(MUCH);
  process.stdout.write(`${app}: ${told(holds, 20)}\n`);
  // Most are pages: of the others, some say that there is nothing, and some lead elsewhere.
  expect(holds.filter(({ status }) => status === 200).length).toBeGreaterThan(holds.length * 0.75);
  expect(holds.length).toBeGreaterThan(40);
  expect(holds.filter(({ hold }) => hold > MOST)).toEqual([]);
});
