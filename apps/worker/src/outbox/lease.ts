/**
 * How long a claim is valid, from before the query. The more pessimistic of two clocks counts: the wall clock may be set back, and the
 * monotonic clock may stop while the machine sleeps.
 */
export class Lease {
  private start = now();

  /** @param holder identifies this claim only: the same process may claim the same message again */
  constructor(
    readonly holder: string,
    readonly ms: number,
  ) {}

  get leftMs(): number {
    const { wall, steady } = now();
    return this.ms - Math.max(wall - this.start.wall, steady - this.start.steady);
  }

  /** Restarts if `ask`, a query, agrees. */
  async renew(ask: () => Promise<boolean>): Promise<void> {
    const start = now();
    if (await ask()) this.start = start;
  }
}

const now = () => ({ wall: Date.now(), steady: performance.now() });
