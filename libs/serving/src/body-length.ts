import type { IncomingMessage } from 'node:http';

/**
 * The length of a request's body (bytes); 0 without one.
 *
 * @param unknown for a body that does not tell its length
 */
export function bodyLengthOf({ headers }: IncomingMessage, unknown = Infinity): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : unknown;
}
