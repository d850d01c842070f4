import { fileURLToPath, pathToFileURL } from 'node:url';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { TestApi } from '../../support/http/api.js';
import { LargestLists } from '../../support/data/largest-lists.js';
import { Beside, beside } from '../../support/load/beside.js';
import { load, type Outcome, requestOf } from '../../support/load/load.js';
import { memoryOf } from '../../support/process/processes.js';
import { reached } from '../../support/faults/promise.js';
import { fixture, inTest } from '../../support/process/fixture.js';

/** Promise 42: fetches the largest pages of every list, this many at a time. */
const AT_ONCE = 20;
const ROWS = 200;
/** Few enough that a process without the limit still reads them before its deadline. */
const PLANTED_ROWS = 30;
const MOST_GROWTH_MB = 150;
/** For each page. */
const SECONDS = Number(process.env.SECONDS ?? 5);

const BLOG_VIEW = pathToFileURL(fileURLToPath(new URL('../../../dist/apps/api/src/areas/blog/blog-posts/blog-posts.view.js', import.meta.url))).href;
/** Removes the size limit of one list. */
const PLANTED = `data:text/javascript,import { blogPostView } from '${BLOG_VIEW}'; blogPostView.size = null;`;

await buildOnce();
const api = await fixture(TestApi.start());
const { make } = api;
// Four bytes on the wire and in memory: the most a character takes. Posts may be longer than other texts, whose limit is 20,000 characters.
const lists = await LargestLists.create(api, make, { rows: ROWS, people: 5_000, text: { length: 200_000, character: '🎓' } });
const { id: school } = await make.organization();
const { id: tutor } = await make.tutor(school);
for (let n = 0; n < 50; n++) await make.homework(tutor, {}, school);
const other = await api.key(school);

const start = (flags: string[] = []) => inTest(ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error' }, flags));

it('twenty of the largest pages of every list at once take little memory and hardly slow others down', async () => {
  const target = await start();
  const usual = { requests: [requestOf('/v1/homework', other)], connections: 20, rate: 40 };
  await load(target.port, { ...usual, seconds: 5 });
  const rss = memoryOf(target.pid, 'VmRSS');
  const results: Beside[] = [];
  for (const route of lists.routes()) {
    for (const query of lists.pagesOf(route)) {
      const { path, key } = lists.target(route, query);
      const scene = { usual, attack: [{ requests: [requestOf(path, key)], connections: AT_ONCE }] };
      results.push(await beside(target.port, scene, { quiet: SECONDS / 2, attacked: SECONDS, rounds: 1 }));
    }
  }
  const result = Beside.joined(results);
  const growth = memoryOf(target.pid, 'VmHWM') - rss;
  reached(42, `${results.length} pages: ${String(result)}, RSS +${growth.toFixed(0)} MB, exits: ${target.ended ?? 0}`);
  expect(result.breaches).toEqual([]);
  expect([target.ended, target.stderr]).toEqual([null, '']);
  expect(growth).toBeLessThan(MOST_GROWTH_MB);
});

it('catches a process without the limit, which runs out of memory', async () => {
  const target = await start(['--import', PLANTED]);
  const rss = memoryOf(target.pid, 'VmRSS');
  const blog = lists.routes().find((route) => lists.idOf(route) === 'list_blog_posts')!;
  const { path, key } = lists.target(blog, `limit=${PLANTED_ROWS}`);
  const pages = { requests: [requestOf(path, key)], connections: AT_ONCE, seconds: 10, abandons: true };
  const [answers] = (await Promise.race([load(target.port, pages), target.exit.then(() => [])])) as [Outcome?];
  const growth = target.ended === null ? memoryOf(target.pid, 'VmHWM') - rss : Infinity;
  reached(42, `planted: exit ${target.ended ?? 'none'}, RSS +${growth.toFixed(0)} MB, ${answers?.statuses ?? 'no answers'}`);
  expect(growth).toBeGreaterThan(MOST_GROWTH_MB);
});
