import { TestApi } from '../support/api.js';
import { Factories } from '../support/factories.js';
import {
  createStage,
  LIST_ROWS,
  type ListRows,
  type NewRow,
  newestFirst,
  rowsAt,
  type Stage,
  type Stored,
} from '../support/list-rows.js';
import { Random } from '../support/random.js';
import { documentOf, keyedReads, nameOf, operationAt, queryOf, type Route } from '../support/routes.js';

const HISTORIES = 50;
/** TEST_SEED repeats a run. */
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000_000);

const BASE = Date.UTC(2026, 4, 1);
/** The middle of the times of rows, so that rows come before and after it. */
const STAGED = new Date(BASE + 5);

interface CursorPage {
  data: { id: string }[];
  meta: { limit: number; count: number; next_cursor: string | null };
}

let api: TestApi;
let make: Factories;
let lists: { route: Route; operation: string; rows: ListRows }[];

beforeAll(async () => {
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  const document = await documentOf(api);
  lists = keyedReads(api)
    .filter((route) => queryOf(document, route).has('cursor'))
    .map((route) => {
      const operation = operationAt(document, route).operationId;
      const rows = LIST_ROWS[operation];
      if (!rows)
        throw new Error(`${nameOf(route)}: say in LIST_ROWS (test/support/list-rows.ts) how its rows are made`);
      return { route, operation, rows };
    });
  process.stdout.write(`Cursor walks: TEST_SEED=${SEED}\n`);
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

/** One list of one organization, and what must be in it. */
class Walk {
  /** What is stored, newest first. */
  present: Stored[] = [];
  private key: string;
  private path: string;

  private constructor(
    private readonly stage: Stage,
    private readonly rows: ListRows,
  ) {}

  static async begin({ route, rows }: (typeof lists)[number]): Promise<Walk> {
    const stage = await createStage(make, STAGED);
    const walk = new Walk(stage, rows);
    walk.key = await api.key(stage.school);
    walk.path = route.path.replace(':tutor_id', stage.tutor);
    if (rows.already) walk.add([{ id: stage[rows.already], createdAt: STAGED.getTime() }]);
    return walk;
  }

  async insert(rows: NewRow[]): Promise<void> {
    if (rows.length > 0) this.add(await this.rows.insert(make, this.stage, rows));
  }

  async page(cursor: string, limit: number): Promise<CursorPage> {
    const answer = await api.get(`${this.path}?cursor=${cursor}&limit=${limit}`, this.key);
    if (answer.status !== 200) throw new Error(`${this.path} ${answer.status} ${answer.text}`);
    return answer.body as CursorPage;
  }

  /** What stands after the row. */
  after(last: Stored | null): Stored[] {
    return last ? this.present.filter((row) => newestFirst(last, row) < 0) : this.present;
  }

  byId(id: string): Stored {
    return this.present.find((row) => row.id === id)!;
  }

  private add(stored: Stored[]): void {
    this.present = [...this.present, ...stored].sort(newestFirst);
  }
}

/** Ties by the dozen: few milliseconds, each with microseconds, which the database rounds away. */
function someRows(random: Random, most: number): NewRow[] {
  const times = Array.from({ length: random.integer(most + 1) }, () => {
    const milliseconds = new Date(BASE + random.integer(10)).toISOString().slice(0, -1);
    return `${milliseconds}${String(random.integer(1000)).padStart(3, '0')}Z`;
  });
  return rowsAt(times, random);
}

const someLimit = (random: Random): number => random.pick([1, 1, 2, 3, 5, 7, 20, 100]);

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

describe('a cursor walk', () => {
  it('is possible on every list that is ordered by (created_at, id)', () => {
    expect(lists.map(({ operation }) => operation).sort()).toEqual(Object.keys(LIST_ROWS).sort());
  });

  it('shows, page by page, exactly what then stands after the last row, whatever is inserted between the pages', async () => {
    let pages = 0;
    let inserted = 0;
    for (const [index, list] of lists.entries()) {
      for (let history = 0; history < HISTORIES; history++) {
        const random = new Random(SEED + index * 1000 + history);
        const walk = await Walk.begin(list);
        await walk.insert(someRows(random, 12));
        const limit = someLimit(random);
        let cursor = 'start';
        let last: Stored | null = null;
        for (;;) {
          const { data, meta } = await walk.page(cursor, limit);
          const rest = walk.after(last);
          const name = `${nameOf(list.route)}, history ${history}, TEST_SEED=${SEED}`;
          expect([name, ...idsOf(data)]).toEqual([name, ...idsOf(rest.slice(0, limit))]);
          expect([name, meta]).toEqual([
            name,
            {
              limit,
              count: data.length,
              next_cursor: rest.length > limit ? (expect.any(String) as string) : null,
            },
          ]);
          pages++;
          if (meta.next_cursor === null) break;
          cursor = meta.next_cursor;
          last = walk.byId(data.at(-1)!.id);
          if (random.chance(0.5)) {
            const rows = someRows(random, 2);
            await walk.insert(rows);
            inserted += rows.length;
          }
        }
      }
    }
    expect(pages).toBeGreaterThan(lists.length * HISTORIES * 2);
    expect(inserted).toBeGreaterThan(lists.length * HISTORIES * 0.5);
  }, 60_000);

  it('repeats nothing and hides nothing that was there throughout, while others write', async () => {
    for (const [index, list] of lists.entries()) {
      for (let history = 0; history < 5; history++) {
        const random = new Random(SEED + 500_000 + index * 1000 + history);
        const walk = await Walk.begin(list);
        await walk.insert(someRows(random, 30));
        const throughout = idsOf(walk.present);
        const seen: string[] = [];
        const writes: Promise<void>[] = [];
        let cursor: string | null = 'start';
        while (cursor !== null) {
          // The page is asked for while the rows are on their way.
          writes.push(walk.insert(someRows(random, 3)));
          const { data, meta }: CursorPage = await walk.page(cursor, random.pick([1, 2, 5]));
          seen.push(...idsOf(data));
          cursor = meta.next_cursor;
        }
        await Promise.all(writes);
        const name = `${nameOf(list.route)}, history ${history}, TEST_SEED=${SEED}`;
        expect([name, seen.length]).toEqual([name, new Set(seen).size]);
        expect([name, ...throughout.filter((id) => !seen.includes(id))]).toEqual([name]);
        const order = idsOf(walk.present.filter(({ id }) => seen.includes(id)));
        expect([name, ...seen]).toEqual([name, ...order]);
      }
    }
  }, 60_000);
});
