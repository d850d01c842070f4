/** A test is tried once, because its sender is watching. */
export const triesOf = (kind: string, pauses: readonly number[] = PAUSES_MINUTES): number =>
  /^(webhook\.)?test$/.test(kind) ? 1 : pauses.length + 1;

/** The minutes after each failed attempt. Greylisting takes one to five, a restart or a full disk up to an hour, an outage longer. */
export const PAUSES_MINUTES: readonly number[] = [1, 2, 5, 15, 30, 60, 120];

/** The maximum number of attempts. An attempt that crashed its process counts, because the message may be the cause. */
export const TRIES = PAUSES_MINUTES.length + 1;

/** Jitter as a share of the delay, so that a thousand messages that failed together don't return together. */
export const JITTER = 0.2;

const MINUTE_MS = 60_000;

/** The delay before the next attempt (ms). @param tries failed so far @param chance random, from 0 to 1 */
export function pauseAfter(tries: number, chance: number = Math.random(), pauses = PAUSES_MINUTES): number {
  const minutes = pauses[Math.min(tries, pauses.length) - 1] ?? pauses[0]!;
  return Math.round(minutes * MINUTE_MS * (1 + JITTER * (2 * chance - 1)));
}
