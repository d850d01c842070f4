import { setTimeout as sleep } from 'node:timers/promises';

/** ms; a wait takes up to 1.8 times as long. */
const SHORTEST = 20;
/** Each refusal under way makes the next wait at least this much longer (ms), which limits their number per second. */
const EACH = 0.5;

let underWay = 0;

/** Whether a response is a refusal that a client may cause as often as it likes. */
export const isRefusal = (status: number): boolean => status === 429 || status === 503;

/**
 * Waits before a refusal is sent, so that a client that ignores refusals cannot keep a core busy with them. Random:
 * connections that were refused together would otherwise return together.
 */
export async function beforeRefusal(): Promise<void> {
  underWay++;
  await sleep(Math.max(SHORTEST, underWay * EACH) * (1 + 0.8 * Math.random()), undefined, { ref: false });
  underWay--;
}
