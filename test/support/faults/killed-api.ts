import { ApiProcess, buildOnce } from '../http/api-process.js';

/** An API process that is killed again and again: another one, started beforehand, takes its place. */
export class KilledApi {
  kills = 0;
  private spare: ApiProcess | null = null;
  private starting: Promise<void> | null = null;

  private constructor(
    private readonly settings: Record<string, string>,
    public current: ApiProcess,
  ) {}

  /** @param settings what one has stored the next one reads: with the same ENCRYPTION_KEY */
  static async start(settings: Record<string, string>): Promise<KilledApi> {
    await buildOnce();
    return new KilledApi(settings, await ApiProcess.start(settings));
  }

  get port(): number {
    return this.current.port;
  }

  /** Whether another process is ready; if not, starts one. */
  get ready(): boolean {
    this.starting ??= ApiProcess.start(this.settings).then((process) => void (this.spare = process));
    return this.spare !== null;
  }

  async kill(): Promise<void> {
    const killed = this.current;
    [this.current, this.spare, this.starting] = [this.spare!, null, null];
    await killed.stop();
    this.kills++;
  }

  async stop(): Promise<void> {
    await this.starting;
    await Promise.all([this.current.stop(), this.spare?.stop()]);
  }
}
