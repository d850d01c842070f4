import { taxIn } from '@app/billing';
import { Random } from '../support/data/random.js';

/** A fraction, which never rounds. */
interface Fraction {
  over: bigint;
  under: bigint;
}

const plus = (one: Fraction, other: Fraction): Fraction => ({
  over: one.over * other.under + other.over * one.under,
  under: one.under * other.under,
});

/** The largest integer that is not above a fraction, found by search rather than by division. */
function floor({ over, under }: Fraction): bigint {
  let [low, high] = [-(10n ** 15n), 10n ** 15n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle * under <= over) low = middle;
    else high = middle;
  }
  return low;
}

it('the tax of 10,000 random invoices is the sum of what is in each line, rounded once with half a cent up', () => {
  const source = new Random(42);
  const below = (most: number) => BigInt(source.integer(most));
  for (let invoice = 0; invoice < 10_000; invoice++) {
    const rate = [1_000n, 1_500n, 2_500n, 10_000n, 0n, below(10_001)][invoice % 6]!;
    const lines = Array.from({ length: 1 + Number(below(12)) }, () => (source.chance(0.3) ? -below(20_000) : below(invoice % 3 ? 30_000 : 40)));
    let sum: Fraction = { over: 0n, under: 1n };
    for (const cents of lines) sum = plus(sum, { over: cents * rate, under: 10_000n + rate });
    const tax = taxIn(
      lines.reduce((all, cents) => all + cents, 0n),
      rate,
    );
    expect([lines, rate, tax]).toEqual([lines, rate, floor(plus(sum, { over: 1n, under: 2n }))]);
  }
});
