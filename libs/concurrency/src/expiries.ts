/** How often the items are checked (ms). */
const SWEEP = 100;

/** Items that expire unless deleted first. One timer for all costs less than a timer each. */
export class Expiries<T extends { readonly left: number }> {
  private readonly open = new Set<T>();
  private sweep: NodeJS.Timeout | undefined;

  /** @param expire called once for each expired item, at most 100 ms late */
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
