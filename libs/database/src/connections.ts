import { type Claim, Expiries, FairSemaphore } from '@app/concurrency';
import { LOCK_TIMEOUT, STATEMENT_TIMEOUT } from './data-source.js';
import { Deadline, DeadlineExceeded } from './deadline.js';
import { Lease } from './lease.js';

/** Connections that organizations leave free in a pool of eight or more: one for look-ups of keys, one for urgent ones. */
const RESERVED = 2;
/** Accesses of one organization that hold or wait for a connection: a second or two of its load while a deployment uses the CPU. */
const MOST_OF_ORGANIZATION = 256;
/** Accesses of all organizations that wait. */
const MOST_WAITING = 600;
/** Low-priority accesses of one organization. Each takes about a tenth of a second: more would wait too long. */
const MOST_OF_LOW_PRIORITY = 8;
/** After one of low priority its organization pauses for as long as it took, up to this (ms): it has half of a core at most. */
const LONGEST_PAUSE = 1_000;
/** How long an access waits for a connection (ms). */
const LONGEST_WAIT = 4_000;
/** And for a lock, while others wait for the connection (ms). */
const CONTENDED_LOCK_TIMEOUT = 1_000;
/** Of the time of a statement, the part that it may wait for locks. */
const LOCK_SHARE = 0.8;
/** Left for the answer (ms). */
const MARGIN = 250;

/**
 * Look-ups that come before any organization is known. Those of keys have a connection kept for them, and the urgent ones
 * (ping, health) another one: they must not wait behind the keys of everybody else.
 */
export type Lane = 'urgent' | 'keys' | 'rest';

/**
 * Of an access of an organization. The urgent ones are cheap and tell whether the service works: nothing is kept free from
 * them. Those of low priority are expensive: one at a time and with a pause after each, while half of the connections are
 * free.
 */
export type Priority = 'urgent' | 'low';

/** A claim to a connection. */
interface Access extends Claim {
  /** Whether the owner pauses after it. */
  pauses?: boolean;
}

/** How a process shares its connections. */
export interface Sharing {
  /** Connections that are shared fairly; null where whoever comes first is served first. */
  permits: number | null;
  /** What an access may take when its caller sets no deadline (ms). */
  patience: number;
}

/**
 * The gate in front of the pool. No organization holds more than half of the connections, those who wait are served in
 * turns, and every access ends with its deadline.
 */
export class Connections {
  /** Connections in use, each until its deadline. */
  private readonly leases = new Expiries<Lease>((lease) => {
    lease.expire();
  });
  private readonly semaphore: FairSemaphore | null;
  private readonly reserved: number;
  private readonly half: number;
  private readonly patience: number;

  constructor({ permits, patience }: Sharing) {
    this.patience = patience;
    this.half = Math.floor((permits ?? 0) / 2);
    // A pool of three has none to spare.
    this.reserved = Math.min(RESERVED, Math.floor((permits ?? 0) / 4));
    this.semaphore = permits === null ? null : new FairSemaphore({
      permits,
      share: Math.max(1, this.half),
      perOwner: MOST_OF_ORGANIZATION,
      waiting: MOST_WAITING,
      wait: LONGEST_WAIT,
    }); // prettier-ignore
  }

  /** Accesses that wait for a connection. */
  get waiting(): number {
    return this.semaphore?.waiting ?? 0;
  }

  ofOrganization(organizationId: string, priority?: Priority): Access {
    if (!priority) return { owner: organizationId, reserve: this.reserved };
    const claim = { owner: `${organizationId} ${priority}`, share: 1 };
    return priority === 'low' ? { ...claim, reserve: this.half, perOwner: MOST_OF_LOW_PRIORITY, pauses: true } : claim;
  }

  ofLane(lane: Lane): Claim {
    if (lane === 'urgent') return { owner: lane };
    if (lane === 'rest') return { owner: lane, reserve: this.reserved };
    // Of all organizations: only the requests in flight bound them.
    return { owner: lane, reserve: Math.min(1, this.reserved), share: Infinity, perOwner: Infinity };
  }

  /**
   * Waits for the owner's turn.
   *
   * @returns the right to one connection, which its holder ends
   * @throws QueueFull when too many wait, or it waited for too long; DeadlineExceeded
   */
  async lease(claim: Access, deadline: Deadline | undefined): Promise<Lease> {
    const { semaphore } = this;
    const until = deadline ?? new Deadline(this.patience);
    const { left } = until;
    if (left <= 0) throw new DeadlineExceeded();
    const turn = semaphore?.acquire(left < LONGEST_WAIT ? { ...claim, wait: left } : claim);
    // Most need not wait, and save a turn of the event loop.
    if (turn) await turn;
    const began = performance.now();
    const lease = new Lease(until, () => {
      this.leases.delete(lease);
      const pause = claim.pauses ? Math.min(performance.now() - began, LONGEST_PAUSE) : 0;
      if (pause > 0) setTimeout(() => semaphore?.release(claim.owner), pause).unref();
      else semaphore?.release(claim.owner);
    });
    this.leases.add(lease);
    return lease;
  }

  /**
   * What PostgreSQL may take for a statement, and of that for its locks, where it is less than the connection's settings
   * say: what is left until the deadline, and little for locks while others wait for the connection.
   */
  timeoutsOf({ owner }: Claim, deadline: Deadline): [statement: string, lock: string] | null {
    const contended = this.semaphore?.isContended(owner) ?? false;
    const left = deadline.left - MARGIN;
    if (!contended && left >= STATEMENT_TIMEOUT) return null;
    const statement = Math.max(1, Math.floor(Math.min(STATEMENT_TIMEOUT, left)));
    const lock = Math.min(contended ? CONTENDED_LOCK_TIMEOUT : LOCK_TIMEOUT, Math.ceil(statement * LOCK_SHARE));
    return [`${statement}ms`, `${lock}ms`];
  }
}
