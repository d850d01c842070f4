import type { CodedTable, lockRecord } from '@app/database';
import type { Refusal } from '@app/rules';
import type { Values } from './rows.js';

type Table = Parameters<typeof lockRecord>[1];

/** What a column names, where more is asked than its foreign key: rows of a table with a condition, or members with a part (archived ones, too). */
export type Reference =
  | { table: Table | CodedTable | 'student_groups' | 'uploads'; where?: string }
  | { member: 'teach' | 'learn' | 'any'; archived?: true };

/** A table whose rows have no rule beyond what the database says of them. Columns are called like the fields of requests. */
export interface RowTable {
  table: Table;
  /** The column that says whose a row is; `organization_id`, if there is none. */
  owner?: string;
  /** By column. */
  references?: Record<string, Reference>;
  /** Why a row is refused that is like another one, by unique constraint or index. */
  unique?: Record<string, Refusal>;
  /** The states in which a row can be changed and removed; all, if there are none. */
  states?: readonly string[];
  /** Columns of free JSON. */
  json?: readonly string[];
  /** Columns with the day of something that has happened: not later than today in the organization's time zone. */
  past?: readonly string[];
  /** What follows from the values that are given. @param stored the row as it is; null for a new one */
  derived?: { from: readonly string[]; values: (given: Values, stored: Values | null) => Values };
  /** A flag that one row has at most, of those with the same values in these columns: a new one takes it from the former. */
  single?: { flag: string; among: readonly string[] };
  /** There is an operation that replaces all rows of an organization: writes wait for each other. */
  whole?: boolean;
  /** How many an organization may have: its list has no pages. */
  most?: number;
  /** It has an `updated_at`. */
  stamped?: boolean;
}
