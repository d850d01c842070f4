import { QueueFull } from '@app/concurrency';
import { DeadlineExceeded } from './deadline.js';
import { RetryTransaction } from './retry-transaction.js';
import { driverErrorOf, sqlStateOf } from './sql-state.js';

/** SQLSTATEs (classes by two letters) that mean "not now". https://www.postgresql.org/docs/17/errcodes-appendix.html */
const NOT_NOW = ['08', '53', '57', '55P03', '25P03', '25P04', '40001', '40P01'];

/** The driver's network errors, which have a Node code or only a message. */
const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const CONNECTION_MESSAGES = [
  'timeout exceeded when trying to connect',
  'Cannot use a pool after calling end on the pool',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Query read timeout',
];

/** Whether the database is temporarily unavailable, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  if ([QueueFull, DeadlineExceeded, RetryTransaction].some((kind) => error instanceof kind)) return true;
  const cause = driverErrorOf(error);
  if (!(cause instanceof Error)) return false;
  const state = sqlStateOf(cause);
  return (
    NOT_NOW.some((prefix) => state?.startsWith(prefix)) ||
    CONNECTION_CODES.has((cause as NodeJS.ErrnoException).code ?? '') ||
    CONNECTION_MESSAGES.some((message) => cause.message.startsWith(message))
  );
}
