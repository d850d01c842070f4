import { QueueFull } from '@app/concurrency';
import { isUnavailable } from '@app/database';
import { ApiError, Overloaded } from './api-error.js';

/** The API error for a failure of the database; null for any other error. */
export function fromDatabase(error: unknown): ApiError | null {
  if (error instanceof QueueFull) return new Overloaded(1);
  return isUnavailable(error) ? ApiError.unavailable() : null;
}
