/** Processes with their own database role. Another role, the owner, runs migrations and the command line. */
export type ProcessRole = 'api' | 'worker' | 'portal';

/** Who may do what in an area. What is not listed is not granted. */
export interface Grants {
  /** Rights on tables, in the syntax of GRANT: a privilege without columns covers the whole table. */
  tables: Record<string, Partial<Record<ProcessRole, string>>>;
  /** The roles that may run each function. Those with the owner's rights are the only way past the organization of a transaction. */
  functions: Record<string, ProcessRole[]>;
}
