import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Log } from '@app/logging';

/**
 * Work that an answer must not wait for: how long it takes would tell whether an address is known. The end of the process
 * waits for it; what fails is logged, and can be asked for again.
 */
@Injectable()
export class AfterAnswer implements BeforeApplicationShutdown {
  private readonly underWay = new Set<Promise<void>>();

  constructor(private readonly log: Log) {}

  /** @param requestId for the log */
  run(requestId: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.log.failure(error, requestId, 'after_answer'))
      .finally(() => this.underWay.delete(running));
    this.underWay.add(running);
  }

  /** When nothing is under way any more. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.idle();
  }
}
