/** The maximum number of attempts. An attempt that crashed its process counts, because the message may be the cause. */
export const TRIES = 8;

/** A test is tried once, because its sender is watching. */
export const triesOf = (kind: string): number => (kind === 'test' ? 1 : TRIES);

/** The minutes after each failed attempt. Greylisting takes one to five, a restart or a full disk up to an hour, an outage longer. */
export const PAUSES_MINUTES = [1, 2, 5, 15, 30, 60, 120] as const;

/** Jitter as a share of the delay, so that a thousand messages that failed together don't return together. */
export const JITTER = 0.2;

const MINUTE_MS = 60_000;

/** The delay before the next attempt (ms). @param tries failed so far @param chance random, from 0 to 1 */
export function pauseAfter(tries: number, chance: number = Math.random()): number {
  const minutes = PAUSES_MINUTES[Math.min(tries, PAUSES_MINUTES.length) - 1] ?? PAUSES_MINUTES[0];
  return Math.round(minutes * MINUTE_MS * (1 + JITTER * (2 * chance - 1)));
}
