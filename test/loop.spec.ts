import { holdsOfApi, holdsOfPortal, told } from './support/load/holds.js';

/** Little of everything: what this prints is gated with much of it, by test/faults/load/loop.spec.ts. */
const LITTLE = { rows: 5, people: 20, text: 1_000, listed: 200, tries: 1 };

it.each([
  ['API', holdsOfApi],
  ['portal', holdsOfPortal],
])('every GET of the %s answers, and is told how long it held the event loop', async (app, holdsOf) => {
  const holds = await holdsOf(LITTLE);
  process.stdout.write(`${app}: ${told(holds)}\n`);
  // Most are pages: of the others, some say that there is nothing, and some lead elsewhere.
  expect(holds.filter(({ status }) => status === 200).length).toBeGreaterThan(holds.length * 0.75);
  expect(holds.length).toBeGreaterThan(40);
});
