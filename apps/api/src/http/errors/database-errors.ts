import { QueueFull } from '@app/concurrency';
import { isUnavailable } from '@app/database';
import { ApiError, Overloaded } from './api-error.js';

/** What a failure of the database is to the caller; null when the error has nothing to do with it. */
export function fromDatabase(error: unknown): ApiError | null {
  if (error instanceof QueueFull) return new Overloaded(1);
  return isUnavailable(error) ? ApiError.unavailable() : null;
}
