import { get } from 'node:http';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { LargestLists } from '../support/data/largest-lists.js';
import { percentile } from '../support/data/percentile.js';
import { memoryOf } from '../support/process/processes.js';
import { reached } from '../support/faults/promise.js';

/** Promise 42: fetches the largest pages of every list, this many at a time. */
const AT_ONCE = 20;
const ROWS = 200;
const MOST_GROWTH_MB = 150;
const MOST_SLOWDOWN = 2;

/** As in production. */
const FLAGS = [`--env-file=${fileURLToPath(new URL('../../apps/api/heap.env', import.meta.url))}`];
const BLOG_VIEW = pathToFileURL(
  fileURLToPath(new URL('../../dist/apps/api/src/resources/blog-posts/blog-posts.view.js', import.meta.url)),
).href;
/** Removes the size limit of one list. */
const PLANTED = `data:text/javascript,import { blogPostView } from '${BLOG_VIEW}'; blogPostView.size = null;`;

let api: TestApi;
let make: Factories;
let lists: LargestLists;
let other: string;

beforeAll(async () => {
  await buildOnce();
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  // Four bytes on the wire and in memory: the most a character takes.
  lists = await LargestLists.create(api, make, {
    rows: ROWS,
    people: 5_000,
    text: { length: 200_000, character: '🎓' },
  });
  // Posts may be longer than other texts, whose limit is 20,000 characters.
  const { id: school } = await make.organization();
  const { id: tutor } = await make.tutor(school);
  for (let n = 0; n < 50; n++) await make.homework(tutor, {}, school);
  other = await api.key(school);
}, 600_000);

afterAll(async () => {
  await make.close();
  await api.stop();
});

interface Fetched {
  status: number;
  bytes: number;
  /** ms */
  took: number;
  whole: boolean;
}

/** Reads an answer as fast as it comes and discards it. */
function fetchAway(port: number, path: string, key: string): Promise<Fetched> {
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, bytes: number, whole: boolean) => {
      resolve({ status, bytes, whole, took: performance.now() - began });
    };
    const headers = { Authorization: `Token token=${key}` };
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('error', () => undefined);
      response.on('close', () => {
        end(response.statusCode!, bytes, response.complete);
      });
    }).on('error', () => {
      end(0, 0, false);
    });
  });
}

/** Fetches another organization's first page in a loop until `over` returns true. */
async function usual(target: ApiProcess, over: () => boolean): Promise<{ times: number[]; errors: number }> {
  const times: number[] = [];
  let errors = 0;
  while (!over()) {
    const { status, took } = await fetchAway(target.port, '/v1/homework', other);
    times.push(took);
    if (status !== 200) errors++;
  }
  return { times, errors };
}

async function warm(target: ApiProcess): Promise<{ alone: number[]; rss: number }> {
  const blog = lists.routes().find((route) => lists.idOf(route) === 'list_blog_posts')!;
  const { path, key } = lists.target(blog, 'limit=5');
  for (let n = 0; n < 20; n++) await fetchAway(target.port, path, key);
  let left = 2_000;
  await usual(target, () => left-- === 0);
  left = 1_000;
  const { times } = await usual(target, () => left-- === 0);
  return { alone: times, rss: memoryOf(target.pid, 'VmRSS') };
}

it('twenty of the largest pages of every list at once take little memory and hardly slow others down', async () => {
  const target = await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error' }, FLAGS);
  try {
    const { alone, rss } = await warm(target);
    const beside: number[] = [];
    const wrong: string[] = [];
    let [bytes, errors] = [0, 0];
    const began = Date.now();
    for (const route of lists.routes()) {
      for (const query of lists.pagesOf(route)) {
        const { path, key } = lists.target(route, query);
        let over = false;
        const others = usual(target, () => over);
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => fetchAway(target.port, path, key)));
        over = true;
        const measured = await others;
        errors += measured.errors;
        beside.push(...measured.times);
        bytes += answers.reduce((sum, answer) => sum + answer.bytes, 0);
        for (const { status, whole } of answers)
          if (status !== 200 || !whole) wrong.push(`${path}: ${status} ${whole}`);
      }
    }
    const growth = memoryOf(target.pid, 'VmHWM') - rss;
    const slowdown = percentile(beside, 0.99) / percentile(alone, 0.99);
    reached(
      42,
      `${Math.round(bytes / 2 ** 20)} MB in ${Math.round((Date.now() - began) / 1000)} s, RSS +${growth.toFixed(0)} MB, ` +
        `another tenant's p50 ${percentile(alone, 0.5).toFixed(1)} -> ${percentile(beside, 0.5).toFixed(1)} ms, ` +
        `p99 ${percentile(alone, 0.99).toFixed(1)} -> ${percentile(beside, 0.99).toFixed(1)} ms (x${slowdown.toFixed(2)}), ` +
        `${beside.length} requests, ${errors} errors, exits: ${target.ended ?? 0}`,
    );
    expect(wrong).toEqual([]);
    expect([errors, target.ended, target.stderr]).toEqual([0, null, '']);
    expect(growth).toBeLessThan(MOST_GROWTH_MB);
    expect(slowdown).toBeLessThan(MOST_SLOWDOWN);
  } finally {
    await target.stop();
  }
});

it('catches a process without the limit, which runs out of memory', async () => {
  const flags = [...FLAGS, '--import', PLANTED];
  const target = await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error' }, flags);
  try {
    const rss = memoryOf(target.pid, 'VmRSS');
    const blog = lists.routes().find((route) => lists.idOf(route) === 'list_blog_posts')!;
    const { path, key } = lists.target(blog, `limit=${ROWS}`);
    const ask = () => fetchAway(target.port, path, key);
    await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, ask)), target.exit]);
    const growth = target.ended === null ? memoryOf(target.pid, 'VmHWM') - rss : Infinity;
    reached(42, `planted: exit ${target.ended ?? 'none'}, RSS +${growth.toFixed(0)} MB`);
    expect(growth).toBeGreaterThan(MOST_GROWTH_MB);
  } finally {
    await target.stop();
  }
});
