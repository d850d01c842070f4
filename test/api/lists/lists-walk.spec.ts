import { TestApi } from '../../support/http/api.js';
import { walkAmongWriters, walkedLists, walkHistories } from '../../support/faults/cursor-walks.js';
import { listRows } from '../../support/data/list-rows.js';
import { fixture } from '../../support/process/fixture.js';

/** A sample of test/faults/writes/cursor-walks.spec.ts. */
const HISTORIES = 10;
/** Fixed, so that what lands does not depend on luck; the fault run tries others. */
const SEED = Number(process.env.SEED ?? 20_261_124);

const api = await fixture(TestApi.start());
const { make } = api;
const lists = await walkedLists(api);
const operations = [...listRows(api).keys()];

/** The list with its own seed. */
function listOf(operation: string) {
  const index = lists.findIndex((list) => list.operation === operation);
  return { on: { api, make, list: lists[index]! }, seed: SEED + index * 1000 };
}

describe(`a cursor walk (seed ${SEED})`, () => {
  it('is possible on every list ordered by (created_at, id)', () => {
    expect(lists.map(({ operation }) => operation).sort()).toEqual(operations.sort());
  });

  it.each(operations)('of %s shows exactly the rows that follow the last one at that time, whatever is inserted between pages', async (operation) => {
    const { on, seed } = listOf(operation);
    await walkHistories(on, HISTORIES, seed);
  });

  it.each(operations)('of %s neither repeats nor omits rows that exist throughout, while others write', async (operation) => {
    const { on, seed } = listOf(operation);
    await walkAmongWriters(on, 1, seed + 500_000);
  });
});
