import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Env } from '@app/config';
import { Deadline } from '@app/database';
import { Log } from '@app/logging';

/**
 * Work that a response must not wait for, because its duration would reveal whether an address is known. A shutdown
 * waits for it. Failures are logged; the user can try again. The work has its own deadline, as long as a request's.
 */
@Injectable()
export class AfterAnswer implements BeforeApplicationShutdown {
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly log: Log,
    private readonly env: Env,
  ) {}

  /** @param requestId for the log */
  run(requestId: string, work: () => Promise<void>): void {
    const running = new Deadline(this.env.get('REQUEST_DEADLINE_SECONDS') * 1_000)
      .within(work)
      .catch((error: unknown) => this.log.failure(error, requestId, 'after_answer'))
      .finally(() => this.underWay.delete(running));
    this.underWay.add(running);
  }

  /** Resolves when no work is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.idle();
  }
}
