/** Tries that a message gets. One that its process did not survive counts: it may be the message that kills. */
export const TRIES = 8;

/**
 * What is waited after each failed try, in minutes. A greylisting server takes mail again after one to five, a restart
 * or a full disk is over within the hour, an outage that somebody has to be woken for within the four hours of all.
 */
export const PAUSES_MINUTES = [1, 2, 5, 15, 30, 60, 120] as const;

/** The share by which a pause is longer or shorter, so that a thousand messages that failed together do not return together. */
export const JITTER = 0.2;

const MINUTE_MS = 60_000;

/**
 * The pause before the next try (ms).
 *
 * @param tries that failed so far
 * @param chance from 0 to 1
 */
export function pauseAfter(tries: number, chance: number = Math.random()): number {
  const minutes = PAUSES_MINUTES[Math.min(tries, PAUSES_MINUTES.length) - 1] ?? PAUSES_MINUTES[0];
  return Math.round(minutes * MINUTE_MS * (1 + JITTER * (2 * chance - 1)));
}
