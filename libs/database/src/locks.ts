import { createHash } from 'node:crypto';

/** The number of the advisory lock with this name, from its SHA-256: with PostgreSQL's own hashes, callers could make names collide. */
export function lockNumber(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString();
}
