import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { TestApi } from '../../support/http/api.js';
import { percentile } from '../../support/data/percentile.js';
import { Random } from '../../support/data/random.js';
import { keyedReads, nameOf, pathWith, type Route, send, telling } from '../../support/http/routes.js';
import { createFixtures, parametersOf } from '../../support/data/fixtures.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

/**
 * Promise 15: foreign and missing records get the same response in the same time. Not part of `npm test`, where other
 * specs would distort the times.
 */
const PAIRS = 2_000;
/** Medians may differ by this share or by this many milliseconds. */
const APART = 0.1;
const APART_MS = 1;
const SEED = seedOf();

interface Cell {
  route: Route;
  name: string;
}

const api = await fixture(TestApi.start());

const fixtures = await createFixtures(api);
const cells = keyedReads(api).flatMap((route) => parametersOf(route).map((name): Cell => ({ route, name })));

describe('foreign and missing records', () => {
  afterEach(() => vi.restoreAllMocks());
  /** Requests a foreign and a missing record per pair. @returns how many pairs differ, and the median times (ms) */
  async function ask({ route, name }: Cell, pairs: number, random: Random) {
    const times = { foreign: [] as number[], absent: [] as number[] };
    let differing = 0;
    const timed = async (what: keyof typeof times, id: string) => {
      const began = performance.now();
      const answer = await send(api, 'GET', pathWith(route, fixtures.a, name, id), {
        Authorization: `Token token=${fixtures.a.key}`,
      });
      times[what].push(performance.now() - began);
      return JSON.stringify(telling(answer));
    };
    for (let pair = 0; pair < pairs; pair++) {
      const asked = [() => timed('foreign', random.pick([fixtures.b, fixtures.c]).path[name]!), () => timed('absent', uuidv7())];
      if (random.chance(0.5)) asked.reverse();
      if ((await asked[0]!()) !== (await asked[1]!())) differing++;
    }
    return { differing, foreign: percentile(times.foreign, 0.5), absent: percentile(times.absent, 0.5) };
  }

  it(`${PAIRS} pairs get the same answer in the same time`, async () => {
    const random = new Random(SEED);
    expect(cells.length).toBeGreaterThan(4);
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

  it('catches a look-up that takes longer for existing records', async () => {
    const [cell] = cells;
    const there = [fixtures.b, fixtures.c].map(({ path }) => path[cell!.name]);
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
