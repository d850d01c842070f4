import type { JoinFixture } from './join-fixture.js';
import { type Attack, LockoutTarget, type Way } from './lockout.js';
import { Visitor } from './visitor.js';

/** Half of them are codes, of which the promise names a number. */
const ATTACKS: Attack[] = [
  'wrong codes', 'wrong passwords', 'wrong codes', 'links', 'wrong codes', 'wrong passkeys', 'wrong codes',
  'wrong passwords with a code',
]; // prettier-ignore

/** What must work all the time. The others are limited for the person too, or need few attempts to prove. */
const WAYS: Way[] = [
  'password in a known browser', 'password in a new browser', 'passkey in a new browser', 'link by mail in a new browser',
  'right code',
]; // prettier-ignore

/** What a guessing attack came to. */
export interface Guessing {
  /** Attempts of strangers, by what they tried and the status. */
  attempts: Record<string, number>;
  /** How often the person tried, and what did not work. */
  tries: number;
  failed: Way[];
  /** The slowest sign-in in the known browser (ms). */
  slowest: number;
}

/**
 * Strangers in many networks guess at one owner and at all codes, while the owner signs in again and again.
 *
 * @param enough when to stop
 * @param costly whether the password takes as long to compare as a real one
 */
export async function guess(
  joining: JoinFixture,
  { networks, connections, costly = true }: { networks: number; connections: number; costly?: boolean },
  enough: (so: Guessing) => boolean,
): Promise<Guessing> {
  const target = await LockoutTarget.make(joining, costly);
  const so: Guessing = { attempts: {}, tries: 0, failed: [], slowest: 0 };
  const addresses = Array.from({ length: networks }, () => joining.visitor().network);
  let over = false as boolean;
  const stranger = async (connection: number) => {
    for (let turn = connection; !over; turn += connections) {
      const attack = ATTACKS[Math.floor(turn / networks) % ATTACKS.length]!;
      const status = await target.attack(attack, new Visitor(joining.portal, undefined, addresses[turn % networks]));
      const what = `${attack}: ${status}`;
      so.attempts[what] = (so.attempts[what] ?? 0) + 1;
    }
  };
  const strangers = Array.from({ length: connections }, (_, connection) => stranger(connection));
  do {
    for (const way of WAYS) {
      const started = performance.now();
      if (!(await target.try(way))) so.failed.push(way);
      if (way === 'password in a known browser') so.slowest = Math.max(so.slowest, performance.now() - started);
      so.tries++;
    }
  } while (!enough(so));
  over = true;
  await Promise.all(strangers);
  // Each of these is good for a few times an hour.
  for (const way of ['link by mail in a known browser', 'joining with a code', 'change of the name'] as const) {
    if (!(await target.try(way))) so.failed.push(way);
    so.tries++;
  }
  return so;
}

/** How often strangers tried this, with any status. */
export const attemptsOf = ({ attempts }: Guessing, attack: Attack): number =>
  Object.entries(attempts).reduce((sum, [what, count]) => sum + (what.startsWith(`${attack}:`) ? count : 0), 0);
