import type { ClientBase } from 'pg';
import { type Deadline, DeadlineExceeded } from './deadline.js';
import { LOCK_TIMEOUT, STATEMENT_TIMEOUT } from './session-settings.js';

/** Time reserved for the response (ms). */
const MARGIN = 250;
/** The share of a statement's time that it may wait for locks. */
const LOCK_SHARE = 0.8;

/** Not in the driver's types. */
type Connected = ClientBase & { connection: { stream: { destroy(): void } } };

/** The right to use a connection until a deadline. The holder calls {@link end} once its work has ended. */
export class Lease {
  private client: Connected | undefined;
  private isOver = false;
  private giveUp: ((error: Error) => void) | undefined;
  private timer: NodeJS.Timeout;

  /** @throws DeadlineExceeded */
  constructor(readonly deadline: Deadline) {
    if (deadline.left <= 0) throw new DeadlineExceeded();
    this.watch();
  }

  readonly end = (): void => clearTimeout(this.timer);

  private watch(): void {
    const { left } = this.deadline;
    // A timer takes no longer ones.
    if (left > 0) this.timer = setTimeout(() => this.watch(), Math.min(left, 2 ** 31 - 1)).unref();
    else this.expire();
  }

  /** The timeouts for a statement and its locks, where the deadline is nearer than the role's settings. */
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
  private expire(): void {
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
