import { TestApi } from '../support/http/api.js';
import { walkAmongWriters, walkedLists, type WalkedList, walkHistories } from '../support/faults/cursor-walks.js';
import { Factories } from '../support/data/factories.js';
import { LIST_ROWS } from '../support/data/list-rows.js';

const HISTORIES = 50;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

let api: TestApi;
let make: Factories;
let lists: WalkedList[];

beforeAll(async () => {
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  lists = await walkedLists(api);
  process.stdout.write(`Cursor walks: SEED=${SEED}\n`);
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

/** With a seed of its own for each list. */
function listOf(operation: string) {
  const index = lists.findIndex((list) => list.operation === operation);
  return { on: { api, make, list: lists[index]! }, seed: SEED + index * 1000 };
}

describe('a cursor walk', () => {
  it('is possible on every list that is ordered by (created_at, id)', () => {
    expect(lists.map(({ operation }) => operation).sort()).toEqual(Object.keys(LIST_ROWS).sort());
  });

  it.each(Object.keys(LIST_ROWS))(
    'of %s shows, page by page, exactly what then stands after the last row, whatever is inserted between the pages',
    async (operation) => {
      const { on, seed } = listOf(operation);
      await walkHistories(on, HISTORIES, seed);
    },
    60_000,
  );

  it.each(Object.keys(LIST_ROWS))(
    'of %s repeats nothing and hides nothing that was there throughout, while others write',
    async (operation) => {
      const { on, seed } = listOf(operation);
      await walkAmongWriters(on, 5, seed + 500_000);
    },
    60_000,
  );
});
