/**
 * A query with a row for each request that waits for a lock on the table. Filters by database, because clones of one
 * template share their tables' ids.
 */
export const waitsFor = (table: string): string =>
  `SELECT FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
     AND relation = '${table}'::regclass AND NOT granted`;
