/**
 * How long what was claimed is ours. Taken before the database answers, so that it ends here before it ends there.
 *
 * Two clocks, the more pessimistic one counts: people set the one back, and the other stands still while a machine sleeps.
 */
export class Lease {
  private readonly wall = Date.now();
  private readonly steady = performance.now();

  /** @param holder who may say how it ends: of this claim alone, since the same process may claim the same again */
  constructor(
    readonly holder: string,
    private readonly ms: number,
  ) {}

  get leftMs(): number {
    return this.ms - Math.max(Date.now() - this.wall, performance.now() - this.steady);
  }
}
