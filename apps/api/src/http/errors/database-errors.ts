import { QueueFull } from '@app/concurrency';
import { awayOf, isUnavailable } from '@app/database';
import { ApiError, NotAtHome, Overloaded } from './api-error.js';

/** The API error for a failure of the database; null for any other error. */
export function fromDatabase(error: unknown): ApiError | null {
  if (error instanceof QueueFull) return new Overloaded(1);
  const away = awayOf(error);
  if (away) return new NotAtHome(away);
  return isUnavailable(error) ? ApiError.unavailable() : null;
}
