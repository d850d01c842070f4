import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AccountDeletions } from '@app/access';
import { Log } from '@app/logging';

const EVERY_MS = 60_000;

/** Ends the memberships of those whose account is deleted: the portal may do that, and the worker, which erases them then, may not. */
@Injectable()
export class DeletionRounds implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | null = null;

  constructor(
    private readonly deletions: AccountDeletions,
    private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.runOnce(), EVERY_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** One at a time; what fails is tried again in the next round. */
  runOnce(): Promise<void> {
    const failed = (error: unknown) => this.log.failure(error, null, 'account_not_deleted');
    this.running ??= this.deletions
      .endDue(failed)
      .catch(failed)
      .finally(() => (this.running = null));
    return this.running;
  }
}
