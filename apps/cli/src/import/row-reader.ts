import type { Env } from '@app/config';
import { FIELDS, type Kind } from '@app/fields';
import type { Table } from './schema.js';
import { KEPT_COLUMNS } from './tables.js';
import { Misfit, type ReadValue, readBy, readerOf } from './values.js';

interface Field {
  name: string;
  read: ReadValue;
  nullable: boolean;
  /** Whether rows are incomplete without it. */
  needed: boolean;
}

/** The values that a line stages, by column. */
export type StagedRow = Record<string, unknown>;

export type ReportFault = (field: string | null, message: string) => void;

/** Reads the lines of one table's file. Checks their shape and the types of values without querying the database. */
export class RowReader {
  private readonly fields = new Map<string, Field>();
  private readonly needed: string[] = [];
  private readonly derived: [string, (row: StagedRow, organizationId: string) => unknown][];

  constructor(
    table: Table,
    private readonly organizationId: string,
    private readonly update: boolean,
    private readonly env: Env,
  ) {
    const { readers = {}, extraFields = {}, derived = {} } = table.rules;
    const kinds: Record<string, Kind> = (FIELDS as Record<string, Record<string, Kind>>)[table.name] ?? {};
    for (const { name, type, required, fallback } of table.columns) {
      const field = {
        name,
        read: readers[name] ?? (kinds[name] ? readBy(kinds[name]) : readerOf(type)),
        nullable: !required,
        needed: required && fallback === null,
      };
      this.fields.set(name, field);
      if (field.needed) this.needed.push(name);
    }
    for (const [name, type] of Object.entries(extraFields)) {
      this.fields.set(name, { name, read: readerOf(type), nullable: false, needed: false });
    }
    this.derived = Object.entries(derived);
  }

  /** @returns the line's row; null after reporting what is wrong with it */
  read(text: string, report: ReportFault): StagedRow | null {
    let given: unknown;
    try {
      given = JSON.parse(text);
    } catch (error) {
      report(null, `is not JSON: ${(error as Error).message.slice(0, 120)}`);
      return null;
    }
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      report(null, 'must be a JSON object');
      return null;
    }
    const row: StagedRow = {};
    const faults: [string, string][] = [];
    for (const [name, value] of Object.entries(given)) {
      const fault = this.readField(row, name, value);
      if (fault !== null) faults.push([name, fault]);
    }
    for (const name of this.update ? [] : this.needed) {
      if (!Object.hasOwn(given, name)) faults.push([name, 'is missing']);
    }
    for (const [name, fault] of faults) report(name, fault);
    if (faults.length > 0) return null;
    if (this.update) row.given = Object.keys(given);
    for (const [name, derive] of this.derived) row[name] = derive(row, this.organizationId);
    return row;
  }

  /** @returns what is wrong with the value, or null */
  private readField(row: StagedRow, name: string, value: unknown): string | null {
    const field = this.fields.get(name);
    if (!field) {
      return KEPT_COLUMNS.has(name) ? 'is set by the service: leave it out' : 'is not a field of this table';
    }
    if (value === null) {
      return field.nullable ? null : `must not be null${field.needed ? '' : ': leave it out to get the default'}`;
    }
    const read = field.read(value, this.env);
    if (read instanceof Misfit) return read.message;
    row[name] = read;
    return null;
  }
}
