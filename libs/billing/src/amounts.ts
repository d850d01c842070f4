/** `dividend / divisor`, rounded half away from zero. Computed without floats. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor / 2n : divisor / 2n;
  // Division of bigints drops the fraction.
  return (dividend + half) / divisor;
}

/** The price of some minutes at a rate for an hour, in cents, rounded half away from zero. */
export function priceOf(rateCents: bigint, minutes: bigint): bigint {
  return rounded(rateCents * minutes, 60n);
}

/** What a participant pays: an hour, and once for the session. */
export interface ParticipantRates {
  /** Null bills nothing, whatever the surcharge. */
  rateCents: bigint | null;
  surchargeCents: bigint | null;
}

/** What one participant is billed for a lesson. */
export function billOf({ rateCents, surchargeCents }: ParticipantRates, minutes: bigint): bigint {
  return rateCents === null ? 0n : priceOf(rateCents, minutes) + (surchargeCents ?? 0n);
}

/** What a trip costs at a rate for a kilometer. */
export function tripCostOf(rateCents: bigint, meters: bigint): bigint {
  return rounded(rateCents * meters, 1_000n);
}

/** A percentage of an amount. @param hundredths of a percent: 6,000 is 60% */
export function shareOf(amountCents: bigint, hundredths: bigint): bigint {
  return rounded(amountCents * hundredths, 10_000n);
}

/** What the tutor gets: an hour, or hundredths of a percent of what the lesson costs those who are billed, without surcharges. */
export interface PayTerms {
  rateCents: bigint | null;
  hundredths: bigint | null;
}

/**
 * What the tutor gets for a lesson, however many take part: a rate an hour also if nobody is billed.
 *
 * @param billed the participants who are billed
 */
export function payOf(
  { rateCents, hundredths }: PayTerms,
  billed: readonly ParticipantRates[],
  minutes: bigint,
): bigint {
  if (rateCents !== null) return priceOf(rateCents, minutes);
  const sum = billed.reduce(
    (total, participant) => total + billOf({ ...participant, surchargeCents: null }, minutes),
    0n,
  );
  return shareOf(sum, hundredths ?? 0n);
}
