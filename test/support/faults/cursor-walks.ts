import type { TestApi } from '../http/api.js';
import type { Factories } from '../data/factories.js';
import {
  createListFixture,
  type ListRows,
  type NewRow,
  pathAt,
  newestFirst,
  rowsAt,
  rowsFor,
  type ListFixture,
  type Stored,
} from '../data/list-rows.js';
import { Random } from '../data/random.js';
import { documentOf, keyedReads, listAt, nameOf, queryOf, type Route } from '../http/routes.js';

const BASE = Date.UTC(2026, 4, 1);
/** Within the range of the first rows' times: some rows sort before it, some after it. */
const STAGED = new Date(BASE + 5);

/** Histories per organization. Each is newer than those before it. */
const IN_ONE_ORGANIZATION = 10;
const ERA = 60_000;

interface CursorPage {
  data: { id: string }[];
  meta: { limit: number; count: number; next_cursor: string | null };
}

/** A list with cursors. */
export interface WalkedList {
  route: Route;
  operation: string;
  rows: ListRows;
}

/** Totals over random histories. */
export interface Histories {
  pages: number;
  inserted: number;
  /** Walks that reached the end of the list. */
  ends: number;
}

/** Called with every cursor that a page returns. */
export type Probe = (walk: CursorWalk, cursor: string, random: Random) => Promise<void>;

/** One organization's list and its expected rows. */
export class CursorWalk {
  /** The stored rows, newest first. */
  present: Stored[] = [];
  key: string;
  path: string;

  private constructor(
    private readonly api: TestApi,
    private readonly make: Factories,
    private readonly stage: ListFixture,
    private readonly rows: ListRows,
  ) {}

  static async begin(api: TestApi, make: Factories, { route, rows }: WalkedList): Promise<CursorWalk> {
    const stage = await createListFixture(make, STAGED);
    const walk = new CursorWalk(api, make, stage, rows);
    walk.key = await api.key(stage.school);
    walk.path = pathAt(route, stage);
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

  /** The rows after this one. */
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

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Tries cursors altered, truncated, and with another organization's key. */
export class Forger {
  refused = 0;
  readonly leaked: string[] = [];

  constructor(
    private readonly api: TestApi,
    private readonly strangers: string,
  ) {}

  readonly probe: Probe = async (walk, cursor, random) => {
    const at = random.integer(cursor.length);
    const other = random.pick(LETTERS.split('').filter((letter) => letter !== cursor[at]));
    await this.ask(walk, cursor.slice(0, at) + other + cursor.slice(at + 1), walk.key);
    await this.ask(walk, cursor.slice(0, random.integer(cursor.length - 1) + 1), walk.key);
    // Another organization's tutor is a 404, whatever the cursor.
    if (!walk.path.includes('/tutors/')) await this.ask(walk, cursor, this.strangers);
  };

  private async ask(walk: CursorWalk, cursor: string, key: string): Promise<void> {
    const answer = await this.api.get(`${walk.path}?cursor=${cursor}`, key);
    const { detail } = answer.body as { detail?: { loc: string[] }[] };
    if (answer.status === 422 && detail?.[0]?.loc.join('.') === 'query.cursor') this.refused++;
    else this.leaked.push(`${walk.path} ${cursor}: ${answer.status} ${answer.text.slice(0, 100)}`);
  }
}

/** Every list with cursors. */
export async function walkedLists(api: TestApi): Promise<WalkedList[]> {
  const document = await documentOf(api);
  return (
    keyedReads(api)
      // The feed of events has cursors of its own: events.spec.ts.
      .filter((route) => queryOf(document, route).has('cursor') && listAt(route))
      .map((route) => {
        const list = listAt(route)!;
        return { route, operation: list.id, rows: rowsFor(list) };
      })
  );
}

/**
 * Walks a list and inserts rows between pages. Each page must show exactly the rows that then follow the last one.
 *
 * @param seed seed of the first history; the others count up from it
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
    // Stops after this history's rows and at most one page of older ones.
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
  expect([pages > histories, inserted > histories / 5, ends >= histories / IN_ONE_ORGANIZATION]).toEqual([true, true, true]);
  return { pages, inserted, ends };
}

/** Walks a list during concurrent writes: it must not repeat a row, nor skip one that existed throughout. */
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
      // Requests the page while the inserts are in flight.
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

/** Rows with many equal times: they span a few milliseconds, and the database rounds their microseconds away. */
function someRows(random: Random, most: number, base = BASE): NewRow[] {
  const times = Array.from({ length: random.integer(most + 1) }, () => {
    const milliseconds = new Date(base + random.integer(10)).toISOString().slice(0, -1);
    return `${milliseconds}${String(random.integer(1000)).padStart(3, '0')}Z`;
  });
  return rowsAt(times, random);
}

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);
