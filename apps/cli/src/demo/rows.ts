import type { School } from './school.js';

export type Row = Record<string, unknown>;
export type Rows = Generator<Row>;

/** How to write the rows of each table. */
export type TableRows = Record<string, (school: School) => Rows>;
