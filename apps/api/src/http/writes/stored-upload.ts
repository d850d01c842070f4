import type { Database } from '@app/database';
import { ApiError } from '../errors/api-error.js';

/** The client has left before its answer. */
export const endedEarly = () => new ApiError('bad_request', 'The request ended before its answer.');

/** A stored upload without an owner yet: the unit of work that takes it owns it, and one that nobody takes is removed with the request. */
export class StoredUpload {
  private taken = false;
  private over = false;

  constructor(
    private readonly removal: () => Promise<void>,
    private readonly db: Database,
  ) {}

  /** Gives it to the ambient unit of work; a rollback removes it. */
  take(): void {
    // The client has left.
    if (this.over) throw endedEarly();
    this.taken = true;
    this.db.onRollback(async () => {
      this.taken = false;
      if (this.over) await this.removal();
    });
  }

  /** Called when the request is over. */
  async release(): Promise<void> {
    this.over = true;
    if (!this.taken) await this.removal();
  }
}
