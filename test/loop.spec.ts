import { inReport } from './support/faults/promise.js';
import { holdsOfApi, holdsOfPortal, told } from './support/load/holds.js';

/** Milliseconds in one piece: a limit only where nothing else runs. */
const MOST = inReport(50, Infinity);
const MUCH = inReport({ rows: 200, people: 2_000, text: 20_000, listed: 20_000, tries: 3 }, { rows: 5, people: 20, text: 1_000, listed: 200, tries: 1 }); // prettier-ignore

it.each([
  ['API', holdsOfApi],
  ['portal', holdsOfPortal],
])('every GET of the %s answers, and is told how long it held the event loop', async (app, holdsOf) => {
  const holds = await holdsOf(MUCH);
  process.stdout.write(`${app}: ${told(holds, inReport(20, 5))}\n`);
  // Most are pages: of the others, some say that there is nothing, and some lead elsewhere.
  expect(holds.filter(({ status }) => status === 200).length).toBeGreaterThan(holds.length * 0.75);
  expect(holds.length).toBeGreaterThan(40);
  expect(holds.filter(({ hold }) => hold > MOST)).toEqual([]);
});
