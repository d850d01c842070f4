import { setTimeout as sleep } from 'node:timers/promises';

/** ms; a wait takes up to 1.8 times as long. */
const SHORTEST = 20;
/** ms, before the random part. */
const LONGEST = 2_000;
/** Refusals under way that wait no longer than the shortest. */
const FEW = 40;

let underWay = 0;

/** Whether a response is a refusal that a client may cause as often as it likes. */
export const isRefusal = (status: number): boolean => status === 429 || status === 503;

/**
 * Waits before a refusal is sent: clients that ignore refusals would keep a core busy. The wait grows with the square of those under way, and is
 * random, or connections that were refused together would return together.
 */
export async function beforeRefusal(): Promise<void> {
  underWay++;
  const wait = Math.min(LONGEST, SHORTEST * Math.max(1, underWay / FEW) ** 2);
  await sleep(wait * (1 + 0.8 * Math.random()), undefined, { ref: false });
  underWay--;
}
