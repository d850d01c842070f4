import type { CodedTable, lockRecord } from '@app/database';
import type { Refusal } from '@app/rules';

type Table = Parameters<typeof lockRecord>[1];

/** What a column names, where more is asked than its foreign key: rows of a table with a condition, or members with a part. */
export type Reference = { table: Table | CodedTable; where?: string } | { member: 'teach' | 'learn' };

/** A table whose rows have no rule beyond what the database says of them. Columns are called like the fields of requests. */
export interface RowTable {
  table: Table;
  /** By column. */
  references?: Record<string, Reference>;
  /** Why a row is refused that is like another one, by unique constraint or index. */
  unique?: Record<string, Refusal>;
  /** The states in which a row can be changed and removed; all, if there are none. */
  states?: readonly string[];
  /** Columns of free JSON. */
  json?: readonly string[];
  /** It has an `updated_at`. */
  stamped?: boolean;
}
