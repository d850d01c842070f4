import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { TestApi } from '../support/api.js';
import { Random } from '../support/random.js';
import { keyedReads, nameOf, type Route, send, telling } from '../support/routes.js';
import { createWorld, parametersOf, pathWith, type World } from '../support/world.js';
import { reached } from '../support/promise.js';

/**
 * Promise 15: what is somebody else's and what is not there are answered alike, and take as long. Here and not in `npm test`,
 * where neighbours take the time.
 */
const PAIRS = 2_000;
/** Medians differ by less than one of these: of the time itself, or milliseconds. */
const APART = 0.1;
const APART_MS = 1;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

interface Cell {
  route: Route;
  name: string;
}

describe('foreign and absent', () => {
  let api: TestApi;
  let world: World;
  let cells: Cell[];

  beforeAll(async () => {
    api = await TestApi.start();
    world = await createWorld(api);
    cells = keyedReads(api).flatMap((route) => parametersOf(route).map((name) => ({ route, name })));
    expect(cells.length).toBeGreaterThan(4);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    await world.close();
    await api.stop();
  });

  /** Asks for a foreign and an absent record in turns. @returns the pairs that differ, and the median times (ms) */
  async function ask({ route, name }: Cell, pairs: number, random: Random) {
    const times = { foreign: [] as number[], absent: [] as number[] };
    let differing = 0;
    const timed = async (what: keyof typeof times, id: string) => {
      const began = performance.now();
      const answer = await send(api, 'GET', pathWith(route, world.a, name, id), {
        Authorization: `Token token=${world.a.key}`,
      });
      times[what].push(performance.now() - began);
      return JSON.stringify(telling(answer));
    };
    for (let pair = 0; pair < pairs; pair++) {
      const asked = [
        () => timed('foreign', random.pick([world.b, world.c]).path[name]!),
        () => timed('absent', uuidv7()),
      ];
      if (random.chance(0.5)) asked.reverse();
      if ((await asked[0]!()) !== (await asked[1]!())) differing++;
    }
    return { differing, foreign: median(times.foreign), absent: median(times.absent) };
  }

  it(`${PAIRS} pairs are the same answer in the same time`, async () => {
    const random = new Random(SEED);
    const told: string[] = [];
    const wrong: string[] = [];
    for (const cell of cells) {
      await ask(cell, 20, random);
      const { differing, foreign, absent } = await ask(cell, Math.ceil(PAIRS / cells.length), random);
      const line = `${nameOf(cell.route)} ${foreign.toFixed(2)} / ${absent.toFixed(2)} ms`;
      told.push(line);
      if (differing > 0 || !alike(foreign, absent)) wrong.push(`${line}, ${differing} differ`);
    }
    reached(15, `${PAIRS} pairs, medians foreign / absent: ${told.join(', ')}`, SEED);
    expect(wrong).toEqual([]);
  });

  it('finds a look-up that takes longer for what is there', async () => {
    const [cell] = cells;
    const there = [world.b, world.c].map(({ path }) => path[cell!.name]);
    const db = api.app.get(Database);
    const read = db.read.bind(db);
    vi.spyOn(db, 'read').mockImplementation(async (tenant, ...statements) => {
      if (statements.some(({ values }) => values.some((value) => there.includes(value as string)))) await sleep(3);
      return read(tenant, ...statements);
    });
    const { foreign, absent } = await ask(cell!, 100, new Random(SEED));
    expect(alike(foreign, absent)).toBe(false);
  });
});

function alike(one: number, other: number): boolean {
  const apart = Math.abs(one - other);
  return apart <= APART_MS || apart <= APART * Math.min(one, other);
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}
