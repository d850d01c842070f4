import { TokenBuckets } from '@app/concurrency';

afterEach(() => vi.restoreAllMocks());

/** The tokens that a bucket gives at this time. */
function tokensAt(buckets: TokenBuckets, time: number): number {
  vi.spyOn(performance, 'now').mockReturnValue(time);
  let tokens = 0;
  while (buckets.take('bucket')) tokens++;
  return tokens;
}

describe('a token bucket', () => {
  // Clock readings have fractions whose sums are not exact.
  const clocks = Array.from({ length: 1_000 }, (_, index) => 12.345678 * (index + 1) ** 1.7);

  it.each([
    { perSecond: 1, burst: 10 },
    { perSecond: 10, burst: 10 },
    { perSecond: 30, burst: 7 },
  ])('gives its whole burst at any time: $burst, then $perSecond a second', (rate) => {
    expect(clocks.filter((time) => tokensAt(new TokenBuckets(rate), time) !== rate.burst)).toEqual([]);
  });

  it('refills evenly, and never beyond its burst', () => {
    const buckets = new TokenBuckets({ perSecond: 10, burst: 10 });
    const start = 1_234.567;
    expect(tokensAt(buckets, start)).toBe(10);
    expect(tokensAt(buckets, start + 50)).toBe(0);
    expect(tokensAt(buckets, start + 300)).toBe(3);
    expect(tokensAt(buckets, start + 60_000)).toBe(10);
  });
});
