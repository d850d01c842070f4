/**
 * The tax in an amount that includes it: the unrounded tax, rounded once, half a cent up. Every line has the same rate, so that the tax of their sum is
 * the sum of theirs.
 *
 * @param cents of all taxable lines together, discounts subtracted
 * @param rate in hundredths of a percent of the price without tax
 */
export function taxIn(cents: bigint, rate: bigint): bigint {
  const dividend = 2n * cents * rate + 10_000n + rate;
  const divisor = 2n * (10_000n + rate);
  const quotient = dividend / divisor;
  // Division of bigints drops the fraction, which is upward below zero.
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient;
}
