/** The longest time for one message (ms). Behind a server that takes longer, the next one continues. */
export const HOLD_MS = 200;

/** A mutex from the first byte of a mail's text to the commit of `sent`: a process that dies sends at most one message twice. */
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
