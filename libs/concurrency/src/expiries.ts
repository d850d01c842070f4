/** How often what is open is looked at (ms). */
const SWEEP = 100;

/** What ends when its time is over, unless it is deleted before: one timer for all costs less than a timer for each. */
export class Expiries<T extends { readonly left: number }> {
  private readonly open = new Set<T>();
  private sweep: NodeJS.Timeout | undefined;

  /** @param expire is called once, within 100 ms after nothing is left of the item's time */
  constructor(private readonly expire: (item: T) => void) {}

  add(item: T): void {
    this.open.add(item);
    this.sweep ??= setInterval(() => {
      this.expireOverdue();
    }, SWEEP).unref();
  }

  delete(item: T): void {
    this.open.delete(item);
  }

  private expireOverdue(): void {
    for (const item of this.open) {
      if (item.left > 0) continue;
      this.open.delete(item);
      this.expire(item);
    }
    if (this.open.size > 0) return;
    clearInterval(this.sweep);
    this.sweep = undefined;
  }
}
