/** How long a value is given to everybody who asks (ms). */
const GOOD_FOR = 500;

/** A value that is loaded only when somebody asks for it, once for all who do so at the same time. */
export class Recent<T> {
  private latest: { value: Promise<T | null>; at: number } | null = null;

  constructor(private readonly load: () => Promise<T>) {}

  /** Null if it cannot be loaded. */
  get(): Promise<T | null> {
    if (!this.latest || performance.now() - this.latest.at > GOOD_FOR)
      this.latest = { value: this.load().catch(() => null), at: performance.now() };
    return this.latest.value;
  }
}
