import type { ClientBase } from 'pg';
import { type Deadline, DeadlineExceeded } from './deadline.js';

/** Not in the driver's types. */
type Connected = ClientBase & { connection: { stream: { destroy(): void } } };

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
