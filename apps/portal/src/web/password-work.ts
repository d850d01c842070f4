import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { PageError } from './page-error.js';

/** Hashing a password takes 19 MB and some 30 ms of a core: so many at once, and so many that wait. */
const AT_ONCE = 2;
const MOST_WAITING = 50;

/** Whatever hashes a password, a few at a time: a flood of sign-ins leaves time for everything else. */
@Injectable()
export class PasswordWork {
  private readonly queue = pLimit(AT_ONCE);

  /** @throws PageError 429 when too many wait already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.queue.pendingCount >= MOST_WAITING) throw PageError.tooMany(5);
    return this.queue(work);
  }
}
