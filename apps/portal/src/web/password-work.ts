import { Injectable } from '@nestjs/common';
import { FairSemaphore } from '@app/concurrency';

/**
 * Hashing a password takes 19 MB and about 30 ms of a core. Two at once leave half of the threads for everything else.
 * A network gets one of them, and a class that joins from one room still fits into its queue.
 */
const LIMITS = { permits: 2, share: 1, perOwner: 40, waiting: 100, wait: 10_000 };

/** Hashes passwords, a few at a time, serving networks in turn: a flood of sign-ins leaves time for everybody else. */
@Injectable()
export class PasswordWork {
  private readonly semaphore = new FairSemaphore(LIMITS);

  /**
   * @param network the network that the work is for
   * @throws QueueFull when too many tasks are waiting
   */
  run<T>(network: string, work: () => Promise<T>): Promise<T> {
    return this.semaphore.run({ owner: network }, work);
  }
}
