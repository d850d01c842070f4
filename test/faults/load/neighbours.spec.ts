import { image } from '../../support/data/images.js';
import { type Attack, Neighbourhood } from '../../support/faults/neighbourhood.js';
import { oneOwner } from '../../support/faults/planted-bug.js';
import { reached } from '../../support/faults/promise.js';
import { MULTIPART, multipart, part } from '../../support/http/uploads.js';
import { Beside } from '../../support/load/beside.js';
import { load, Outcome, type Traffic } from '../../support/load/load.js';
import { fixture, inTest } from '../../support/process/fixture.js';
import { forgetPeak, memoryOf } from '../../support/process/processes.js';

/**
 * Promises 31 and 43: one organization, strangers, or one key with the heaviest that it can send, try to take a whole
 * process. Takes about fifteen minutes.
 */
const ROUNDS = 2;
const timing = (seconds: number) => ({ quiet: seconds / 5, attacked: seconds / ROUNDS, rounds: ROUNDS });
const ROWS = Number(process.env.ROWS ?? 1_000_000);
const CONNECTIONS = 300;
const LONGEST_BODY = 3 * 1_048_576;
/** What the attacker's network carries (bytes a second). Unlimited, copying its bytes would take both processors here. */
const GIGABIT = 125e6;
/** By how much a process's memory may grow (MB). */
const MOST_GROWTH = 150;
/** How quickly a request is refused (ms) while no more than this many others wait to be refused. */
const REFUSED_MS = 50;
const AT_ONCE = 40;
/** How much slower a copy may become beside somebody who sends a request every half second. */
const MOST_COST = 1.3;

const PAGE = '/v1/homework?limit=100';
const PEOPLE = Array.from({ length: 100 }, (_, n) => ({ type: 'student', first_name: 'Ada', last_name: 'Lovelace', email: `${n}@writers.example` }));
const LARGE: [string, string][] = [['Content-Type', 'application/json'], ['Content-Length', String(LONGEST_BODY)]]; // prettier-ignore

/** Copies a list page by page. */
const copy = (of: Neighbourhood, workers: number): Traffic => ({ requests: [of.request(`${PAGE}&cursor=start`)], connections: workers, walks: true });

/** Ways to write the Authorization header with the same key. */
function spellings(key: string): string[] {
  const blanks = Array.from({ length: 10 }, (_, n) => ' '.repeat(n + 1));
  const schemes = ['Token', 'token', 'TOKEN'].flatMap((scheme) => blanks.map((blank) => `${scheme}${blank}token=`));
  return schemes.flatMap((scheme) => [`${scheme}${key}`, `${scheme}"${key}"`]);
}

const BY_ORGANIZATIONS: Attack[] = [
  { name: 'a copy with 4 workers', traffic: (of) => copy(of, 4) },
  { name: 'a copy with 50 workers', traffic: (of) => copy(of, 50) },
  {
    name: '300 connections, one key in 60 spellings',
    traffic: (of) => ({
      requests: spellings(of.hostile[0]!).map((text) => of.request(PAGE, { headers: [['Authorization', text]] }, null)),
      connections: CONNECTIONS,
    }),
  },
  {
    name: '300 connections, four keys',
    traffic: (of) => ({ requests: of.hostile.map((key) => of.request(PAGE, {}, key)), connections: CONNECTIONS }),
  },
  { name: '20 readers of pages of 20 MB', traffic: (of) => ({ requests: [of.request('/v1/blog-posts?limit=200')], connections: 20 }) },
  {
    name: '50 writers',
    traffic: (of) => ({
      requests: [
        of.request('/v1/invites', { method: 'POST', body: '{"scope":"organization"}' }),
        of.request('/v1/users/bulk-invite', { method: 'POST', body: JSON.stringify({ users: PEOPLE }) }),
      ],
      connections: 50,
    }),
  },
  {
    name: '22 connections, headers of large bodies',
    traffic: (of) => ({ requests: [of.request('/v1/blog-posts', { method: 'POST', headers: LARGE })], connections: 22 }),
    statuses: [0, 408],
  },
  {
    name: '300 connections, unknown keys from 300 addresses',
    traffic: (of) => ({
      requests: of.unknownKeys(Array.from({ length: 300 }, (_, n) => `198.18.${n % 5}.${Math.floor(n / 5)}`)),
      connections: CONNECTIONS,
    }),
    statuses: [401],
    crowd: true,
  },
  {
    name: "300 connections without a key from the neighbour's address",
    traffic: (of) => ({ requests: [of.keyless], connections: CONNECTIONS }),
    statuses: [401],
  },
];

const BY_ONE_KEY: Attack[] = [
  {
    name: '50 connections, the deepest offsets',
    traffic: (of) => ({ requests: [of.request(`${PAGE}&offset=${ROWS - 100}`)], connections: 50 }),
  },
  {
    name: '12 connections, the heaviest images',
    traffic: async (of) => {
      const upload = multipart(part(await image('jpeg', { width: 8_192, height: 6_144 })));
      const headers: [string, string][] = [['Content-Type', MULTIPART], ['Content-Length', String(upload.length)]]; // prettier-ignore
      const head = of.request('/v1/blog-images', { method: 'POST', headers });
      return { requests: [head + upload.toString('latin1')], connections: 12, bytesPerSecond: GIGABIT };
    },
    statuses: [0],
  },
  {
    name: '300 connections, half of the largest bodies',
    traffic: (of) => ({
      requests: [of.request('/v1/blog-posts', { method: 'POST', headers: LARGE }) + ' '.repeat(LONGEST_BODY / 2)],
      connections: CONNECTIONS,
      bytesPerSecond: GIGABIT,
    }),
    // Half a body is followed by the start of the next request, so that the body never ends as it began.
    statuses: [0, 400, 408],
  },
  {
    name: '50 connections, unknown keys from one address',
    traffic: (of) => ({ requests: of.unknownKeys(['203.0.113.9']), connections: 50 }),
    statuses: [401],
  },
];

const table = [Beside.head];
const neighbours = await fixture(Neighbourhood.open(ROWS));
const shared = await fixture(neighbours.start());

afterAll(() => console.log(table.join('\n')));

it.each(BY_ORGANIZATIONS)('a neighbour hardly notices $name', async (attack) => {
  const result = await neighbours.measure(shared, attack, timing(Number(process.env.SECONDS ?? 16)));
  table.push(result.row(attack.name));
  reached(31, `${attack.name}: ${String(result)}`);
  expect(result.breaches).toEqual([]);
  expect([shared.ended, shared.stderr]).toEqual([null, '']);
});

it('catches a process that serves first come, first served', async () => {
  const planted = await inTest(neighbours.start(oneOwner()));
  const attack = BY_ORGANIZATIONS.find(({ name }) => name.endsWith('four keys'))!;
  const result = await neighbours.measure(planted, attack, { ...timing(16), rounds: 1 });
  reached(31, `planted, one owner: ${String(result)}`);
  expect(result.refused).toBeGreaterThan(0);
});

it('a neighbour who sends a request every half second hardly slows a copy down', async () => {
  const rounds = 3;
  const seconds = Number(process.env.SECONDS ?? 16) / rounds;
  const copying = { ...copy(neighbours, 4), seconds };
  const neighbour = { ...neighbours.usual, rate: 2, connections: 1, seconds };
  const pages = { alone: [] as Outcome[], beside: [] as Outcome[] };
  for (let round = 0; round < rounds; round++) {
    pages.alone.push((await load(shared.port, copying))[0]!);
    pages.beside.push((await load(shared.port, copying, neighbour))[0]!);
  }
  const [alone, beside] = [pages.alone, pages.beside].map((all) => Outcome.joined(all).with(200).perSecond) as [number, number]; // prettier-ignore
  reached(31, `a copy at ${alone.toFixed(0)} pages/s alone, ${beside.toFixed(0)} beside a request every half second: ${(alone / beside).toFixed(2)} times slower`); // prettier-ignore
  expect(alone / beside).toBeLessThanOrEqual(MOST_COST);
});

it.each(BY_ONE_KEY)('another organization hardly notices $name of one key, nor does the memory', async (attack) => {
  const target = await inTest(neighbours.start());
  forgetPeak(target.pid);
  const before = memoryOf(target.pid, 'VmRSS');
  const result = await neighbours.measure(target, attack, timing(Number(process.env.SECONDS ?? 60)));
  const growth = memoryOf(target.pid, 'VmHWM') - before;
  reached(43, `${attack.name}: ${String(result)}, RSS +${growth.toFixed(0)} MB`);
  expect(result.breaches).toEqual([]);
  expect(growth).toBeLessThan(MOST_GROWTH);
  expect([target.ended, target.stderr]).toEqual([null, '']);
});

it('another organization hardly notices a key far over its limit, which is refused at once', async () => {
  const target = await inTest(neighbours.start({ RATE_LIMIT_PER_MINUTE: '' }));
  const requests = [neighbours.request('/v1/homework')];
  const attack: Attack = { name: 'a key over its limit', traffic: () => ({ requests, connections: CONNECTIONS }) };
  const result = await neighbours.measure(target, attack, timing(Number(process.env.SECONDS ?? 60)));
  const [few] = (await load(target.port, { requests, connections: AT_ONCE, seconds: 5 })) as [Outcome];
  const refused = few.with(429, 503);
  reached(43, `${attack.name}: ${String(result)}; ${AT_ONCE} at once: ${few.statuses}, refusals p95 ${refused.percentile(0.95)} ms`); // prettier-ignore
  expect(result.breaches).toEqual([]);
  expect(refused.count).toBeGreaterThan(100);
  expect(refused.percentile(0.95)).toBeLessThanOrEqual(REFUSED_MS);
});
