import fc from 'fast-check';
import { type Answer, HIT, SlidingWindow } from '../../../apps/api/src/http/rate-limit/sliding-window.js';
import { fixture } from '../../support/process/fixture.js';
import { TestRedis } from '../../support/worker/redis.js';

const TTL = 60_000;
const redis = await fixture(TestRedis.start());
const client = redis.client();
afterAll(() => client.disconnect());

/** The script with a clock that the test sets. */
const AT_A_TIME = HIT.replace("redis.call('TIME')", '{ ARGV[3], ARGV[4] }');
let lists = 0;

type Hit = (now: number, limit: number) => Answer | Promise<Answer>;

function inProcess(): Hit {
  const window = new SlidingWindow();
  return (now, limit) => window.refusal(now) ?? window.hit(now, TTL, limit);
}

function inRedis(): Hit {
  const key = `list-${lists++}`;
  const time = (now: number) => [Math.floor(now / 1_000), (now % 1_000) * 1_000];
  return (now, limit) => client.eval(AT_A_TIME, 1, key, TTL, limit, ...time(now)) as Promise<Answer>;
}

/** The rule, by the definition: a hit is allowed if fewer than `limit` were allowed in the minute before it. */
function oracle(): (now: number, limit: number) => Answer {
  const allowed: number[] = [];
  return (now, limit) => {
    const within = (time: number) => allowed.filter((at) => at > time - TTL).length;
    const isAllowed = Number(within(now) < limit);
    if (isAllowed) allowed.push(now);
    const left = limit - within(now);
    const leaving = allowed.map((at) => at + TTL).filter((time) => time > now);
    return [isAllowed, Math.max(0, left), leaving.find((time) => limit - within(time) > Math.max(0, left))! - now];
  };
}

/** Bursts, streams, pauses, and arrivals at the very edge of a minute; `null` waits as long as the last answer said. */
const pauses = fc.array(
  fc.oneof(fc.constantFrom(0, 0, 0, 1, TTL - 1, TTL, TTL + 1, null, null), fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 * TTL })),
  { minLength: 1, maxLength: 300, size: 'max' },
);

describe.each<[string, () => Hit, number]>([
  ['this process', inProcess, 400],
  ['Redis', inRedis, 40],
])('a sliding window in %s', (_, open, numRuns) => {
  it('allows, refuses and tells the wait exactly as the definition says', async () => {
    const run = fc.asyncProperty(fc.integer({ min: 1, max: 12 }), pauses, async (limit, steps) => {
      const [hit, expected] = [open(), oracle()];
      let [now, wait] = [100_000, 0];
      for (const step of steps) {
        const waited = step === null && wait > 0;
        now += step ?? wait;
        const answer = await hit(now, limit);
        expect(answer).toEqual(expected(now, limit));
        if (waited) expect(answer[0]).toBe(1);
        wait = answer[2];
      }
    });
    await fc.assert(run, { numRuns });
  });
});

it('a process goes on from what Redis allowed, and from how long it refuses', () => {
  const window = new SlidingWindow();
  for (const now of [1_000, 2_000]) window.hit(now, TTL, 3, [1, 0, 5]);
  expect(window.hit(3_000, TTL, 3)).toEqual([1, 0, TTL - 2_000]);
  const other = new SlidingWindow();
  other.hit(1_000, TTL, 3, [0, 0, 40_000]);
  expect([other.refusal(40_999), other.refusal(41_000)]).toEqual([[0, 0, 1], null]);
});

describe('when the clock of Redis is set back', () => {
  it('nobody is locked out', async () => {
    const hit = inRedis();
    for (let time = 0; time < 3; time++) await hit(3_600_000 + 100_000, 3);
    expect(await hit(100_000, 3)).toEqual([1, 2, TTL]);
  });

  it('by a moment, as by another server, nothing is forgotten', async () => {
    const hit = inRedis();
    for (let time = 0; time < 3; time++) await hit(100_500, 3);
    expect((await hit(100_000, 3))[0]).toBe(0);
  });
});
