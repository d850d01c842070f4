/**
 * How long a claim is ours. Counted from before the database was asked, so that it ends here before it ends there.
 *
 * Two clocks, the more pessimistic one counts: people set the one back, and the other stands still while a machine sleeps.
 */
export class Lease {
  private start = now();

  /** @param holder names this claim alone: the same process may claim the same message again */
  constructor(
    readonly holder: string,
    readonly ms: number,
  ) {}

  get leftMs(): number {
    const { wall, steady } = now();
    return this.ms - Math.max(wall - this.start.wall, steady - this.start.steady);
  }

  /** Starts anew if `ask`, which asks the database, says so. */
  async renew(ask: () => Promise<boolean>): Promise<void> {
    const start = now();
    if (await ask()) this.start = start;
  }
}

const now = () => ({ wall: Date.now(), steady: performance.now() });
