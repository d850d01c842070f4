import { Beside } from '../../support/load/beside.js';
import { load, Outcome, type Traffic } from '../../support/load/load.js';
import { type Attack, Neighbourhood } from '../../support/faults/neighbourhood.js';
import { oneOwner } from '../../support/faults/planted-bug.js';
import { reached } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 31: one organization, or strangers, try to take a whole process. Takes about six minutes. */
const SECONDS = Number(process.env.SECONDS ?? 16);
const ROUNDS = 2;
const TIMING = { quiet: SECONDS / 4, attacked: SECONDS / ROUNDS, rounds: ROUNDS };
const ROWS = 100_000;
const CONNECTIONS = 300;
const LONGEST_BODY = 3 * 1_048_576;
/** How much slower a copy may become beside somebody who sends a request every half second. */
const MOST_COST = 1.3;

/** Copies a list page by page. */
const copy = (of: Neighbourhood, workers: number): Traffic => ({
  requests: [of.request('/v1/homework?limit=100&cursor=start')],
  connections: workers,
  walks: true,
});

/** Ways to write the Authorization header with the same key. */
function spellings(key: string): string[] {
  const blanks = Array.from({ length: 10 }, (_, n) => ' '.repeat(n + 1));
  const schemes = ['Token', 'token', 'TOKEN'].flatMap((scheme) => blanks.map((blank) => `${scheme}${blank}token=`));
  return schemes.flatMap((scheme) => [`${scheme}${key}`, `${scheme}"${key}"`]);
}

const PAGE = '/v1/homework?limit=100';
const PEOPLE = Array.from({ length: 100 }, (_, n) => ({
  type: 'student', first_name: 'Ada', last_name: 'Lovelace', email: `${n}@writers.example`,
})); // prettier-ignore

const ATTACKS: Attack[] = [
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
  {
    name: '20 readers of pages of 20 MB',
    traffic: (of) => ({ requests: [of.request('/v1/blog-posts?limit=200')], connections: 20 }),
  },
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
    traffic: (of) => ({
      requests: [of.request('/v1/blog-posts', { method: 'POST', headers: [['Content-Type', 'application/json'], ['Content-Length', String(LONGEST_BODY)]] })],
      connections: 22,
    }),
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
]; // prettier-ignore

const table = [Beside.head];
const neighbours = await fixture(Neighbourhood.open(ROWS));
const target = await fixture(neighbours.start());

afterAll(() => console.log(table.join('\n')));

it.each(ATTACKS)('a neighbour hardly notices $name', async (attack) => {
  const result = await neighbours.measure(target, attack, TIMING);
  table.push(result.row(attack.name));
  reached(31, `${attack.name}: ${String(result)}`);
  expect(result.breaches).toEqual([]);
  expect([target.ended, target.stderr]).toEqual([null, '']);
});

it('catches a process that serves first come, first served', async () => {
  const planted = await neighbours.start(oneOwner());
  const attack = ATTACKS.find(({ name }) => name.endsWith('four keys'))!;
  const result = await neighbours.measure(planted, attack, { ...TIMING, rounds: 1 });
  await planted.stop();
  reached(31, `planted, one owner: ${String(result)}`);
  expect(result.refused).toBeGreaterThan(0);
});

it('a neighbour who sends a request every half second hardly slows a copy down', async () => {
  const rounds = 3;
  const seconds = SECONDS / rounds;
  const copying = { ...copy(neighbours, 4), seconds };
  const neighbour = { ...neighbours.usual, rate: 2, connections: 1, seconds };
  const pages = { alone: [] as Outcome[], beside: [] as Outcome[] };
  for (let round = 0; round < rounds; round++) {
    pages.alone.push((await load(target.port, copying))[0]!);
    pages.beside.push((await load(target.port, copying, neighbour))[0]!);
  }
  const [alone, beside] = [pages.alone, pages.beside].map((all) => Outcome.joined(all).with(200).perSecond) as [number, number]; // prettier-ignore
  reached(31, `a copy at ${alone.toFixed(0)} pages/s alone, ${beside.toFixed(0)} beside a request every half second: ${(alone / beside).toFixed(2)} times slower`); // prettier-ignore
  expect(alone / beside).toBeLessThanOrEqual(MOST_COST);
});
