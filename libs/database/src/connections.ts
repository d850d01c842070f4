import { type Claim, Expiries, FairSemaphore } from '@app/concurrency';
import { LOCK_TIMEOUT, STATEMENT_TIMEOUT } from './data-source.js';
import { Deadline, DeadlineExceeded } from './deadline.js';
import { Lease } from './lease.js';

/** Connections reserved in a pool of eight or more: one for key look-ups, one for urgent accesses. */
const RESERVED = 2;
/** Accesses of one organization that hold or wait for a connection: a second or two of load during a deployment. */
const MOST_OF_ORGANIZATION = 256;
/** Waiting accesses of all organizations. */
const MOST_WAITING = 600;
/** Low-priority accesses of one organization. Each takes about a tenth of a second: more would wait too long. */
const MOST_OF_LOW_PRIORITY = 8;
/** After a low-priority access its organization pauses for as long as it took, up to this (ms): half a core at most. */
const LONGEST_PAUSE = 1_000;
/** How long an access waits for a connection (ms). */
const LONGEST_WAIT = 4_000;
/** How long a statement waits for a lock while others wait for the connection (ms). */
const CONTENDED_LOCK_TIMEOUT = 1_000;
/** The share of a statement's time that it may wait for locks. */
const LOCK_SHARE = 0.8;
/** Time reserved for the response (ms). */
const MARGIN = 250;

/**
 * Look-ups before an organization is known. Key look-ups have a reserved connection, and the urgent ones (ping, health)
 * another, so that they don't wait behind everybody else's keys.
 */
export type Lane = 'urgent' | 'keys' | 'rest';

/**
 * The priority of an organization's access. Urgent accesses are cheap and show whether the service works: they may use
 * the reserved connections. Low-priority ones are expensive: they run one at a time, with a pause after each, while
 * half of the connections are free.
 */
export type Priority = 'urgent' | 'low';

/** A claim to a connection. */
interface Access extends Claim {
  /** Whether the owner pauses after it. */
  pauses?: boolean;
}

/** How a process shares its connections. */
export interface Sharing {
  /** The number of connections to share fairly; null for first come, first served. */
  permits: number | null;
  /** How long an access may take when neither its caller nor the work around it sets a deadline (ms). */
  patience: number;
}

/**
 * Controls access to the pool. No organization holds more than half of the connections, waiting organizations are
 * served in turn, and every access ends at its deadline.
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
    // A small pool has no connections to spare.
    this.reserved = Math.min(RESERVED, Math.floor((permits ?? 0) / 4));
    this.semaphore = permits === null ? null : new FairSemaphore({
      permits,
      share: Math.max(1, this.half),
      perOwner: MOST_OF_ORGANIZATION,
      waiting: MOST_WAITING,
      wait: LONGEST_WAIT,
    }); // prettier-ignore
  }

  /** Accesses waiting for a connection. */
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
    // These are for all organizations; only the number of requests in flight limits them.
    return { owner: lane, reserve: Math.min(1, this.reserved), share: Infinity, perOwner: Infinity };
  }

  /**
   * Waits for the owner's turn.
   *
   * @returns the right to use one connection, which the holder ends
   * @throws QueueFull when too many wait or the wait was too long; DeadlineExceeded
   */
  async lease(claim: Access, deadline: Deadline | undefined): Promise<Lease> {
    const { semaphore } = this;
    const until = deadline ?? Deadline.current ?? new Deadline(this.patience);
    const { left } = until;
    if (left <= 0) throw new DeadlineExceeded();
    const turn = semaphore?.acquire(left < LONGEST_WAIT ? { ...claim, wait: left } : claim);
    // Skipping the await saves an iteration of the event loop. Most accesses need not wait.
    if (turn) await turn;
    const began = performance.now();
    const lease = new Lease(until, () => {
      this.leases.delete(lease);
      const pause = claim.pauses ? Math.min(performance.now() - began, LONGEST_PAUSE) : 0;
      semaphore?.release(claim.owner, pause);
    });
    this.leases.add(lease);
    return lease;
  }

  /**
   * The timeouts for a statement and its locks, where they are shorter than the connection's settings: the time left
   * until the deadline, and little for locks while others wait for the connection.
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
