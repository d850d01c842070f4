import { createHash } from 'node:crypto';

/**
 * The number of the advisory lock with this name: the first eight bytes of its SHA-256, a bigint. Callers choose parts
 * of some names; they could make PostgreSQL's own hashes of texts (`hashtextextended`) collide, and so hold the locks of
 * others.
 */
export function lockNumber(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString();
}
