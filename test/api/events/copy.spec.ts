import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { type Scope, SCOPES } from '@app/access';
import { TOLD } from '@app/database';
import { createFixtures } from '../../support/data/fixtures.js';
import { Random } from '../../support/data/random.js';
import { inReport, reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { encoded, everyWrite, needed, validWrites } from '../../support/http/record-for.js';
import { fixture } from '../../support/process/fixture.js';

const SEED = seedOf();
const ROUNDS = inReport(20, 1);
const folder = mkdtempSync(join(tmpdir(), 'tutoring-copy-'));
afterAll(() => rmSync(folder, { recursive: true }));
const api = await fixture(TestApi.start({ DATA_DIR: folder }));
const { make, a: school } = await createFixtures(api);
const key = await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] });
const base = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;

type Records = Record<string, Record<string, Record<string, unknown>>>;

/** Runs the program of docs/events.md until it has caught up. */
async function copied(name: string): Promise<Records> {
  // A call may find another at work, and leaves what is new to the next.
  while ((await make.query('SELECT FROM event_changes LIMIT 1')).length > 0) await make.query('SELECT number_events()');
  const file = join(folder, name);
  await promisify(execFile)(process.execPath, ['docs/examples/copy.mjs', file], { env: { ...process.env, BASE: base, KEY: key, ONCE: '1' } });
  return (JSON.parse(readFileSync(file, 'utf8')) as { records: Records }).records;
}

/** Records that are not as they are listed. A list can leave out what is archived, and hide what is shown by id. */
async function faults(copy: Records, fresh: Records): Promise<string[]> {
  const found: string[] = [];
  for (const { resource, path } of TOLD) {
    const [ours, theirs] = [copy[resource] ?? {}, fresh[resource] ?? {}];
    for (const id of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      if (isDeepStrictEqual(ours[id], theirs[id])) continue;
      const shown = ours[id] && path ? ((await api.get(path.replace('{id}', id), key)).body as unknown) : null;
      if (!isDeepStrictEqual(ours[id], shown)) found.push(`${resource} ${id} is ${JSON.stringify(ours[id])}, not ${JSON.stringify(theirs[id])}`);
    }
  }
  return found;
}

it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  'a copy that only lists and events keep equals what the API lists, after random writes of all operations (round %i)',
  async (round) => {
    const random = new Random(SEED + round);
    await copied('copy.json');
    let done = 0;
    const writes = await validWrites(everyWrite(api), make, school, inReport(Infinity, 1));
    for (let place = writes.length - 1; place > 0; place--) {
      const other = random.integer(place + 1);
      [writes[place], writes[other]] = [writes[other]!, writes[place]!];
    }
    for (const [place, write] of writes.entries()) {
      const { type, bytes } = await encoded(write);
      const headers = { Authorization: `Token token=${key}`, ...(bytes && { 'Content-Type': type }), ...needed(write.route) };
      const { status } = await fetch(base + write.path, { method: write.route.method, headers, body: bytes });
      if (status < 300) done++;
      if (place % 60 === 59) await copied('copy.json');
    }
    const [copy, fresh] = [await copied('copy.json'), await copied(`fresh-${round}.json`)];
    expect(await faults(copy, fresh)).toEqual([]);
    expect(done).toBeGreaterThan(100);
    reached(62, `round ${round}: ${done} writes of all operations in random order: the copy is equal`, SEED);
  },
);
