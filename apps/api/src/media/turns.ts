/** Lets so many work at once, the others in the order of their coming. */
export class Turns {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(most: number) {
    this.free = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A turn is handed on; it becomes free when nobody waits.
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}
