import { createHash } from 'node:crypto';

/** The lock of a table that is replaced as a whole, and before that read: whoever writes an organization's rows takes it first. */
export const tableLock = (table: string, organizationId: string): string => `rows of ${table} of ${organizationId}`;

/** The lock of a record of which the organization reads a copy: whoever changes it takes it first. */
export const recordLock = (table: string, id: string): string => `row ${id} of ${table}`;

/** The number of the advisory lock with this name, from its SHA-256: with PostgreSQL's own hashes, callers could make names collide. */
export function lockNumber(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString();
}
