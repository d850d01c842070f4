import type { ClientBase } from 'pg';
import { Expiries } from '@app/concurrency';
import { LOCK_TIMEOUT, STATEMENT_TIMEOUT } from './data-source.js';
import { Deadline, DeadlineExceeded } from './deadline.js';

/** Time reserved for the response (ms). */
const MARGIN = 250;
/** The share of a statement's time that it may wait for locks. */
const LOCK_SHARE = 0.8;

/** Not in the driver's types. */
type Connected = ClientBase & { connection: { stream: { destroy(): void } } };

/** The connections in use, each until its deadline. */
export class Leases {
  private readonly inUse = new Expiries<Lease>((lease) => {
    lease.expire();
  });

  /** @param patience how long an access may take when neither its caller nor the work around it sets a deadline (ms) */
  constructor(private readonly patience: number) {}

  /** @throws DeadlineExceeded */
  open(deadline: Deadline = Deadline.current ?? new Deadline(this.patience)): Lease {
    if (deadline.left <= 0) throw new DeadlineExceeded();
    const lease: Lease = new Lease(deadline, () => {
      this.inUse.delete(lease);
    });
    this.inUse.add(lease);
    return lease;
  }
}

/** The right to use a connection until a deadline. The holder calls {@link end} once its work has ended. */
export class Lease {
  private client: Connected | undefined;
  private isOver = false;
  private giveUp: ((error: Error) => void) | undefined;

  constructor(
    readonly deadline: Deadline,
    /** Returns the connection. */
    readonly end: () => void,
  ) {}

  get left(): number {
    return this.deadline.left;
  }

  /** The timeouts for a statement and its locks, where the deadline is nearer than the connection's settings. */
  timeouts(): [statement: string, lock: string] | null {
    const left = this.deadline.left - MARGIN;
    if (left >= STATEMENT_TIMEOUT) return null;
    const statement = Math.max(1, Math.floor(left));
    const lock = Math.min(LOCK_TIMEOUT, Math.ceil(statement * LOCK_SHARE));
    return [`${statement}ms`, `${lock}ms`];
  }

  /** Sets the callback for the deadline. The caller gets its error at once, even if the work ends later. */
  onExpiry(giveUp: (error: Error) => void): void {
    this.giveUp = giveUp;
  }

  /** @returns false if the connection comes too late */
  take(client: ClientBase): boolean {
    if (!this.isOver) this.client = client as Connected;
    return !this.isOver;
  }

  /** Cuts the connection: nothing else ends the wait for a server that hangs. */
  expire(): void {
    this.isOver = true;
    this.giveUp?.(new DeadlineExceeded());
    this.client?.connection.stream.destroy();
  }

  /** Runs the work and ends the lease. @throws DeadlineExceeded at the deadline */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.onExpiry(reject);
      void work().finally(this.end).then(resolve, reject);
    });
  }
}
