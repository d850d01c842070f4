/** How often the value is loaded (ms), and how long it is good for when a load hangs. */
const EVERY = 1_000;
const GOOD_FOR = 3_000;

/** A value that is loaded every second, so that asking for it waits for nothing. */
export class Polled<T> {
  private latest: { value: T; at: number } | null = null;
  private loading: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly load: () => Promise<T>) {}

  async start(): Promise<void> {
    this.timer = setInterval(() => void this.refresh(), EVERY).unref();
    await this.refresh();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** null if it could not be loaded lately. */
  get current(): T | null {
    return this.latest && performance.now() - this.latest.at < GOOD_FOR ? this.latest.value : null;
  }

  /** Loads it now; a call during a load returns that load. */
  refresh(): Promise<void> {
    this.loading ??= this.load()
      .then(
        (value) => (this.latest = { value, at: performance.now() }),
        () => (this.latest = null),
      )
      .then(() => {
        this.loading = null;
      });
    return this.loading;
  }
}
