const MINUTES_AN_HOUR = 60n;

/** The price of some minutes at a rate for an hour, in cents, rounded half away from zero. Computed without floats. */
export function priceOf(rateCents: bigint, minutes: bigint): bigint {
  const product = rateCents * minutes;
  const half = product < 0n ? -MINUTES_AN_HOUR / 2n : MINUTES_AN_HOUR / 2n;
  // Division of bigints drops the fraction.
  return (product + half) / MINUTES_AN_HOUR;
}
