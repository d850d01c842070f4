import { Cursors } from '../../../apps/api/src/http/lists/cursor.js';
import { TestApi } from '../../support/http/api.js';
import { type CursorWalk, type Probe, walkAmongWriters, walkedLists, walkHistories } from '../../support/faults/cursor-walks.js';
import { Factories } from '../../support/data/factories.js';
import { reached } from '../../support/faults/promise.js';
import type { Random } from '../../support/data/random.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 28: paging neither skips nor repeats. Takes about three minutes. */
const HISTORIES = Number(process.env.HISTORIES ?? 200);
const AMONG_WRITERS = Math.ceil(HISTORIES / 10);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const LOWEST = '00000000-0000-0000-0000-000000000000';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

let strangers: string;
let refused = 0;
let leaked: string[] = [];

const api = await fixture(TestApi.start());
const make = await fixture(Factories.connect(api.database));

beforeAll(async () => {
  strangers = await api.key((await make.organization()).id);
});
afterEach(() => {
  vi.restoreAllMocks();
  refused = 0;
  leaked = [];
});
/** Tries the cursor altered, truncated, and with another organization's key. */
const forge: Probe = async (walk, cursor, random) => {
  const at = random.integer(cursor.length);
  const forged = cursor.slice(0, at) + otherLetter(cursor[at]!, random) + cursor.slice(at + 1);
  for (const wrong of [forged, cursor.slice(0, random.integer(cursor.length - 1) + 1)]) await ask(walk, wrong, walk.key);
  // Another organization's tutor is a 404, whatever the cursor.
  if (!walk.path.includes('/tutors/')) await ask(walk, cursor, strangers);
};

async function ask(walk: CursorWalk, cursor: string, key: string): Promise<void> {
  const answer = await api.get(`${walk.path}?cursor=${cursor}`, key);
  const { detail } = answer.body as { detail?: { loc: string[] }[] };
  if (answer.status === 422 && detail?.[0]?.loc.join('.') === 'query.cursor') refused++;
  else leaked.push(`${walk.path} ${cursor}: ${answer.status} ${answer.text.slice(0, 100)}`);
}

function otherLetter(letter: string, random: Random): string {
  return random.pick(LETTERS.split('').filter((other) => other !== letter));
}

it(`shows every row of ${HISTORIES} histories of each list once, and refuses every forged or foreign cursor`, async () => {
  const lists = await walkedLists(api);
  const total = { pages: 0, inserted: 0 };
  for (const [index, list] of lists.entries()) {
    const on = { api, make, list };
    const { pages, inserted } = await walkHistories(on, HISTORIES, SEED + index * 10_000, forge);
    total.pages += pages;
    total.inserted += inserted;
    await walkAmongWriters(on, AMONG_WRITERS, SEED + index * 10_000 + 5_000);
  }
  reached(
    28,
    `0 skipped, 0 repeated in ${HISTORIES} histories of each of ${lists.length} lists (${total.pages} pages, ` +
      `${total.inserted} rows inserted in between) and ${AMONG_WRITERS} among writers; ${refused} cursors refused, ` +
      `${leaked.length} let through`,
    SEED,
  );
  expect(leaked).toEqual([]);
  expect(refused).toBeGreaterThan(total.pages);
});

it('catches cursors without an id and cursors without a signature', async () => {
  const [list] = await walkedLists(api);
  const on = { api, make, list: list! };
  const cursors = api.app.get(Cursors);
  const decode = cursors.decode.bind(cursors);
  const decoding = vi.spyOn(cursors, 'decode');
  decoding.mockImplementation((...given) => ({ ...decode(...given), id: LOWEST }));
  // Other seeds than above: the same ones would make the same rows again.
  await expect(walkHistories(on, HISTORIES, SEED + 1_000_000)).rejects.toThrow(/to deeply equal/);

  decoding.mockImplementation((cursor) => {
    const bytes = Buffer.concat([Buffer.from(cursor, 'base64url'), Buffer.alloc(24)]);
    return { at: new Date(Number(bytes.readBigInt64BE()) || 0), id: LOWEST };
  });
  await expect(walkHistories(on, 10, SEED + 2_000_000, forge)).rejects.toThrow(/to deeply equal/);
  expect(leaked.length).toBeGreaterThan(0);
});
