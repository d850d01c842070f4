import type { TestApi } from './api.js';
import type { Factories } from './factories.js';
import {
  createStage,
  LIST_ROWS,
  type ListRows,
  type NewRow,
  newestFirst,
  rowsAt,
  type Stage,
  type Stored,
} from './list-rows.js';
import { Random } from './random.js';
import { documentOf, keyedReads, nameOf, operationAt, queryOf, type Route } from './routes.js';

const BASE = Date.UTC(2026, 4, 1);
/** The middle of the times of the first rows, so that rows come before and after it. */
const STAGED = new Date(BASE + 5);

/** So many histories of a list follow each other in one organization, each of them newer than the ones before. */
const IN_ONE_ORGANIZATION = 10;
const ERA = 60_000;

interface CursorPage {
  data: { id: string }[];
  meta: { limit: number; count: number; next_cursor: string | null };
}

/** A list that can be walked by cursors. */
export interface WalkedList {
  route: Route;
  operation: string;
  rows: ListRows;
}

/** What random histories came to. */
export interface Histories {
  pages: number;
  inserted: number;
  /** Walks that came to the end of the list. */
  ends: number;
}

/** Asked with every cursor that a page gives. */
export type Probe = (walk: CursorWalk, cursor: string, random: Random) => Promise<void>;

/** One list of one organization, and what must be in it. */
export class CursorWalk {
  /** What is stored, newest first. */
  present: Stored[] = [];
  key: string;
  path: string;

  private constructor(
    private readonly api: TestApi,
    private readonly make: Factories,
    private readonly stage: Stage,
    private readonly rows: ListRows,
  ) {}

  static async begin(api: TestApi, make: Factories, { route, rows }: WalkedList): Promise<CursorWalk> {
    const stage = await createStage(make, STAGED);
    const walk = new CursorWalk(api, make, stage, rows);
    walk.key = await api.key(stage.school);
    walk.path = route.path.replace(':tutor_id', stage.tutor);
    if (rows.already) walk.add([{ id: stage[rows.already], createdAt: STAGED.getTime() }]);
    return walk;
  }

  async insert(rows: NewRow[]): Promise<void> {
    if (rows.length > 0) this.add(await this.rows.insert(this.make, this.stage, rows));
  }

  async page(cursor: string, limit: number): Promise<CursorPage> {
    const answer = await this.api.get(`${this.path}?cursor=${cursor}&limit=${limit}`, this.key);
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

/** Every list that can be walked by cursors. */
export async function walkedLists(api: TestApi): Promise<WalkedList[]> {
  const document = await documentOf(api);
  return keyedReads(api)
    .filter((route) => queryOf(document, route).has('cursor'))
    .map((route) => {
      const operation = operationAt(document, route).operationId;
      const rows = LIST_ROWS[operation];
      if (!rows)
        throw new Error(`${nameOf(route)}: say in LIST_ROWS (test/support/list-rows.ts) how its rows are made`);
      return { route, operation, rows };
    });
}

/**
 * Walks a list while rows are inserted between its pages; each page must be exactly what then stands after the last row.
 *
 * @param seed of the first history
 */
export async function walkHistories(
  { api, make, list }: { api: TestApi; make: Factories; list: WalkedList },
  histories: number,
  seed: number,
  probe?: Probe,
): Promise<Histories> {
  let [pages, inserted, ends] = [0, 0, 0];
  let walk!: CursorWalk;
  for (let history = 0; history < histories; history++) {
    const random = new Random(seed + history);
    if (history % IN_ONE_ORGANIZATION === 0) walk = await CursorWalk.begin(api, make, list);
    const base = BASE + (history % IN_ONE_ORGANIZATION) * ERA;
    await walk.insert(someRows(random, 12, base));
    const limit = random.pick([1, 2, 3, 5, 7, 20, 100]);
    let cursor: string | null = 'start';
    let last: Stored | null = null;
    // Until its own rows have been shown, and a page of older ones at the most.
    while (cursor !== null && (last === null || last.createdAt >= base)) {
      const { data, meta }: CursorPage = await walk.page(cursor, limit);
      const rest = walk.after(last);
      const name = `${nameOf(list.route)}, history ${history}, seed ${seed}`;
      expect([name, ...idsOf(data)]).toEqual([name, ...idsOf(rest.slice(0, limit))]);
      const next_cursor: unknown = rest.length > limit ? expect.any(String) : null;
      expect([name, meta]).toEqual([name, { limit, count: data.length, next_cursor }]);
      pages++;
      cursor = meta.next_cursor;
      if (cursor === null) ends++;
      else {
        last = walk.byId(data.at(-1)!.id);
        await probe?.(walk, cursor, random);
      }
      if (random.chance(0.5)) {
        const rows = someRows(random, 2, base);
        await walk.insert(rows);
        inserted += rows.length;
      }
    }
  }
  expect([pages > histories * 1.5, inserted > histories / 3, ends >= histories / IN_ONE_ORGANIZATION]).toEqual([
    true,
    true,
    true,
  ]);
  return { pages, inserted, ends };
}

/** Walks a list while others write, and checks that it repeats nothing and hides nothing that was there throughout. */
export async function walkAmongWriters(
  { api, make, list }: { api: TestApi; make: Factories; list: WalkedList },
  histories: number,
  seed: number,
): Promise<void> {
  for (let history = 0; history < histories; history++) {
    const random = new Random(seed + history);
    const walk = await CursorWalk.begin(api, make, list);
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
    const name = `${nameOf(list.route)}, history ${history}, seed ${seed}`;
    expect([name, seen.length]).toEqual([name, new Set(seen).size]);
    expect([name, ...throughout.filter((id) => !seen.includes(id))]).toEqual([name]);
    const order = idsOf(walk.present.filter(({ id }) => seen.includes(id)));
    expect([name, ...seen]).toEqual([name, ...order]);
  }
}

/** Ties by the dozen: few milliseconds, each with microseconds, which the database rounds away. */
function someRows(random: Random, most: number, base = BASE): NewRow[] {
  const times = Array.from({ length: random.integer(most + 1) }, () => {
    const milliseconds = new Date(base + random.integer(10)).toISOString().slice(0, -1);
    return `${milliseconds}${String(random.integer(1000)).padStart(3, '0')}Z`;
  });
  return rowsAt(times, random);
}

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);
