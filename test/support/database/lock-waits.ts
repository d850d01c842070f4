/**
 * Requests that wait for a lock on the table. Of this database: the tables of its siblings, clones of one template, have
 * the same ids.
 */
export const waitsFor = (table: string): string =>
  `SELECT FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
     AND relation = '${table}'::regclass AND NOT granted`;
