import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/api-error.js';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** The request's idempotency key; null if it has none. @throws ApiError 400 for an invalid key */
export function idempotencyKeyOf({ headers, headersDistinct }: IncomingMessage): string | null {
  const given = headers['idempotency-key'];
  if (given === undefined) return null;
  const values = headersDistinct['idempotency-key'] ?? [];
  if (values.length === 1 && typeof given === 'string' && VISIBLE_ASCII.test(given)) return given;
  throw new ApiError('bad_request', 'Idempotency-Key must be one value of 1 to 255 visible ASCII characters.');
}
