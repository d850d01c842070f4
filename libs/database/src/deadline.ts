import { AsyncLocalStorage } from 'node:async_hooks';

/** The deadline has passed. Whether the work took effect is unknown, as after a lost connection. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('The deadline has passed');
  }
}

/** The deadline of a request or another piece of work. Every wait is limited by it. */
export class Deadline {
  private static readonly ambient = new AsyncLocalStorage<Deadline>();

  private end: number;

  constructor(milliseconds: number) {
    this.end = performance.now() + milliseconds;
  }

  /** The deadline of the current work, if it has one. */
  static get current(): Deadline | undefined {
    return Deadline.ambient.getStore();
  }

  /** Runs the work. This becomes the deadline of database accesses that name no other. */
  within<T>(work: () => T): T {
    return Deadline.ambient.run(this, work);
  }

  /** ms; negative when it has passed */
  get left(): number {
    return this.end - performance.now();
  }

  /** Excludes time that we cannot save, such as a client that sends its body slowly. */
  extend(milliseconds: number): void {
    this.end += milliseconds;
  }
}
