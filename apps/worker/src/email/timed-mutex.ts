/**
 * The longest time for one message (ms). Most servers accept well within it; behind one that takes longer (spam scans,
 * a stall) the next message continues, so that no message can hold up the others.
 */
export const HOLD_MS = 200;

/**
 * A mutex around the last step of sending: from the first byte of a mail's text to the commit of `sent`. A process that
 * dies sends at most one message twice, however many were in progress.
 */
export class TimedMutex {
  private last = Promise.resolve();

  /** Waits for the mutex. @returns the function that releases it */
  async acquire(): Promise<() => void> {
    const before = this.last;
    let leave: () => void = () => undefined;
    this.last = new Promise((resolve) => (leave = resolve));
    await before;
    const timer = setTimeout(leave, HOLD_MS);
    return () => {
      clearTimeout(timer);
      leave();
    };
  }
}
