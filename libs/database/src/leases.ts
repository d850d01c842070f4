import type { ClientBase } from 'pg';
import { type Deadline, DeadlineExceeded } from './deadline.js';

/** How often deadlines are looked at (ms): one timer for all costs less than a timer for each. */
const SWEEP = 200;

/** What the driver's type leaves out. */
type Connected = ClientBase & { connection: { stream: { destroy(): void } } };

/** The right to a connection until a deadline. */
export class Lease {
  private client: Connected | undefined;
  private isOver = false;

  constructor(
    readonly deadline: Deadline,
    private readonly giveUp: (error: Error) => void,
  ) {}

  /** @returns false when the connection comes too late */
  take(client: ClientBase): boolean {
    if (!this.isOver) this.client = client as Connected;
    return !this.isOver;
  }

  /** Nobody waits for the work any longer. Its connection is cut: nothing else ends the wait for a server that hangs. */
  expire(): void {
    this.isOver = true;
    this.giveUp(new DeadlineExceeded());
    this.client?.connection.stream.destroy();
  }
}

/** Connections in use, each until its deadline. */
export class Leases {
  private readonly open = new Set<Lease>();
  private sweep: NodeJS.Timeout | undefined;

  /**
   * Does the work under a lease. Its caller is answered at the deadline at the latest; `ended` is called when the work has
   * really ended, which may be later.
   *
   * @throws DeadlineExceeded
   */
  run<T>(deadline: Deadline, work: (lease: Lease) => Promise<T>, ended: () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const lease = new Lease(deadline, reject);
      this.open.add(lease);
      this.sweep ??= setInterval(() => {
        this.expireOverdue();
      }, SWEEP).unref();
      const end = () => {
        this.open.delete(lease);
        ended();
      };
      work(lease).then(
        (result) => {
          end();
          resolve(result);
        },
        (error: Error) => {
          end();
          reject(error);
        },
      );
    });
  }

  private expireOverdue(): void {
    for (const lease of this.open) {
      if (lease.deadline.left > 0) continue;
      // Once: whatever still uses the connection finds it closed.
      this.open.delete(lease);
      lease.expire();
    }
    if (this.open.size > 0) return;
    clearInterval(this.sweep);
    this.sweep = undefined;
  }
}
