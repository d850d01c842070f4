import { Cursors } from '../../../apps/api/src/http/lists/cursor.js';
import { listRows } from '../../support/data/list-rows.js';
import { Forger, walkAmongWriters, walkedLists, walkHistories } from '../../support/faults/cursor-walks.js';
import { inReport, reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 28: paging neither skips nor repeats. */
const HISTORIES = Number(process.env.HISTORIES ?? inReport(200, 10));
const AMONG_WRITERS = Math.ceil(HISTORIES / 10);
const SEED = seedOf(20_261_124);
const LOWEST = '00000000-0000-0000-0000-000000000000';

const api = await fixture(TestApi.start());
const { make } = api;
const lists = await walkedLists(api);
const operations = [...listRows(api).keys()];
const strangers = await api.key((await make.organization()).id);

afterEach(() => void vi.restoreAllMocks());

/** The list with its own seed. */
function listOf(operation: string) {
  const index = lists.findIndex((list) => list.operation === operation);
  return { on: { api, make, list: lists[index]! }, seed: SEED + index * 10_000 };
}

describe(`a cursor walk (seed ${SEED})`, () => {
  it('is possible on every list ordered by (created_at, id)', () => {
    expect(lists.map(({ operation }) => operation).sort()).toEqual(operations.sort());
  });

  it.each(operations)('of %s shows exactly the rows that follow the last one at that time, whatever is inserted between pages', async (operation) => {
    const { on, seed } = listOf(operation);
    const forger = new Forger(api, strangers);
    const { pages, inserted } = await walkHistories(on, HISTORIES, seed, inReport(forger.probe, undefined));
    reached(28, `${operation}: 0 skipped, 0 repeated in ${pages} pages, ${inserted} rows inserted in between; ${forger.refused} cursors refused, ${forger.leaked.length} let through`, SEED); // prettier-ignore
    expect(forger.leaked).toEqual([]);
    expect(forger.refused).toBeGreaterThan(inReport(pages / 2, -1));
  });

  it.each(operations)('of %s neither repeats nor omits rows that exist throughout, while others write', async (operation) => {
    const { on, seed } = listOf(operation);
    await walkAmongWriters(on, AMONG_WRITERS, seed + 500_000);
  });

  it.each(inReport(operations.slice(0, 1), []))('catches cursors without an id and cursors without a signature: %s', async (operation) => {
    const { on } = listOf(operation);
    const forger = new Forger(api, strangers);
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
    await expect(walkHistories(on, 10, SEED + 2_000_000, forger.probe)).rejects.toThrow(/to deeply equal/);
    expect(forger.leaked.length).toBeGreaterThan(0);
  });
});
