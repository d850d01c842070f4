/**
 * What one message may hold the mutex (ms). An ordinary server accepts well within it; behind one that thinks for longer
 * (spam scans, a stall) the next message goes on, so that no message can hold up the others.
 */
export const HOLD_MS = 200;

/**
 * Lets one message at a time through the last part of its way: from the first byte of its text to the commit that it was
 * sent. A process that dies leaves at most the message inside to be sent twice, however many were under way.
 */
export class TimedMutex {
  private last = Promise.resolve();

  /** Waits for its turn. @returns what ends it */
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
