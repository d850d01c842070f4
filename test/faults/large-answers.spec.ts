import { fileURLToPath, pathToFileURL } from 'node:url';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { LargestLists } from '../support/data/largest-lists.js';
import { type Lane, load, loadFromElsewhere, Outcome, type Reply, requestOf } from '../support/http/load.js';
import { memoryOf } from '../support/process/processes.js';
import { reached } from '../support/faults/promise.js';

/** Promise 42: fetches the largest pages of every list, this many at a time. */
const AT_ONCE = 20;
const ROWS = 200;
/** Few enough that a process without the limit still reads them before its deadline. */
const PLANTED_ROWS = 30;
const MOST_GROWTH_MB = 150;
const MOST_SLOWDOWN = 2;
/** For each page. */
const SECONDS = Number(process.env.SECONDS ?? 5);

const BLOG_VIEW = pathToFileURL(
  fileURLToPath(new URL('../../dist/apps/api/src/resources/blog-posts/blog-posts.view.js', import.meta.url)),
).href;
/** Removes the size limit of one list. */
const PLANTED = `data:text/javascript,import { blogPostView } from '${BLOG_VIEW}'; blogPostView.size = null;`;

let api: TestApi;
let make: Factories;
let lists: LargestLists;
let others: string[];

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
  // Limits are per key. A single key could not send enough requests for a p99.
  others = await Promise.all(Array.from({ length: 6 }, () => api.key(school)));
}, 600_000);

afterAll(async () => {
  await make.close();
  await api.stop();
});

/** Another organization's first page. */
const usual = (seconds: number): Lane => ({
  requests: others.map((key) => requestOf('/v1/homework', key)),
  connections: 4,
  rate: 40,
  seconds,
});

it('twenty of the largest pages of every list at once take little memory and hardly slow others down', async () => {
  const target = await ApiProcess.start(
    // Production's default limit for the requests of a key.
    { DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '' },
  );
  try {
    await load(target.port, usual(10));
    const [alone] = (await load(target.port, usual(SECONDS * 4))) as [Outcome];
    const rss = memoryOf(target.pid, 'VmRSS');
    const replies: Reply[] = [];
    const wrong: string[] = [];
    for (const route of lists.routes()) {
      for (const query of lists.pagesOf(route)) {
        const { path, key } = lists.target(route, query);
        const pages = { requests: [requestOf(path, key)], connections: AT_ONCE, seconds: SECONDS, abandons: true };
        const [[beside], [answers]] = (await Promise.all([
          load(target.port, usual(SECONDS)),
          loadFromElsewhere(target.port, pages),
        ])) as [[Outcome], [Outcome]];
        replies.push(...beside.replies);
        // Those beyond what an organization may have under way, or a key may send, are refused, and told when to come back.
        if (answers.without(200, 429, 503).count > 0 || answers.untold > 0)
          wrong.push(`${path}: ${answers.statuses}, ${answers.untold} without Retry-After`);
      }
    }
    const beside = new Outcome(replies, 0);
    const growth = memoryOf(target.pid, 'VmHWM') - rss;
    const slowdown = beside.percentile(0.99) / alone.percentile(0.99);
    reached(42, `RSS +${growth.toFixed(0)} MB, another tenant's p99 ${alone.percentile(0.99)} -> ${beside.percentile(0.99)} ms (x${slowdown.toFixed(2)}), ${beside.count} requests, ${beside.without(200).count} errors, exits: ${target.ended ?? 0}`); // prettier-ignore
    expect(wrong).toEqual([]);
    expect([beside.without(200).statuses, target.ended, target.stderr]).toEqual(['', null, '']);
    expect(growth).toBeLessThan(MOST_GROWTH_MB);
    expect(slowdown).toBeLessThan(MOST_SLOWDOWN);
  } finally {
    await target.stop();
  }
});

it('catches a process without the limit, which runs out of memory', async () => {
  const flags = ['--import', PLANTED];
  const target = await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error' }, flags);
  try {
    const rss = memoryOf(target.pid, 'VmRSS');
    const blog = lists.routes().find((route) => lists.idOf(route) === 'list_blog_posts')!;
    const { path, key } = lists.target(blog, `limit=${PLANTED_ROWS}`);
    const pages = { requests: [requestOf(path, key)], connections: AT_ONCE, seconds: 10, abandons: true };
    const [answers] = (await Promise.race([load(target.port, pages), target.exit.then(() => [])])) as [Outcome?];
    const growth = target.ended === null ? memoryOf(target.pid, 'VmHWM') - rss : Infinity;
    reached(
      42,
      `planted: exit ${target.ended ?? 'none'}, RSS +${growth.toFixed(0)} MB, ${answers?.statuses ?? 'no answers'}`,
    );
    expect(growth).toBeGreaterThan(MOST_GROWTH_MB);
  } finally {
    await target.stop();
  }
});
