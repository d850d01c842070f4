/** The time is over. What was under way may have happened or not, as after a lost connection. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('The deadline has passed');
  }
}

/** When the time of a piece of work is over: one for a whole request, from which each of its waits is cut. */
export class Deadline {
  private end: number;

  constructor(milliseconds: number) {
    this.end = performance.now() + milliseconds;
  }

  /** ms; negative when it has passed */
  get left(): number {
    return this.end - performance.now();
  }

  /** Time that is not ours to save: a client that sends its body slowly. */
  extend(milliseconds: number): void {
    this.end += milliseconds;
  }
}
