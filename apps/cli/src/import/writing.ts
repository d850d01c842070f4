import { type Client, DatabaseError } from 'pg';
import { SQLSTATE } from '@app/database';
import { fieldsOf, mine } from './checks.js';
import type { Faults } from './faults.js';
import { takenLines } from './hidden.js';
import { nounOf } from './tables.js';
import type { Table } from './schema.js';
import type { Staged } from './staging.js';
import { Updates } from './updating.js';

/** Lines per statement. Triggers keep a statement's rows in memory, and progress is reported after each statement. */
export const BATCH_LINES = 5_000;

/** How many faulty lines to search for: each takes a dozen statements. */
const SOUGHT = 50;

/** Whether the table may have rows that this organization wrote but cannot see. */
function isHideable({ rules }: Table): boolean {
  return rules.taken !== undefined;
}

/** Removes existing rows from the staging table, so that they stay unchanged. */
export async function dropKnown(client: Client, staged: Staged): Promise<void> {
  const same = staged.table.key.map((column) => `t."${column}" = s."${column}"`).join(' AND ');
  await client.query(`DELETE FROM ${staged.relation} s USING ${staged.table.name} t WHERE ${same} ${mine(staged)}`);
}

/** Writes a table's staged rows. The schema's own rules apply. */
export class Writer {
  private readonly insert: string;
  private readonly update: string | null;
  private sought = 0;

  constructor(
    private readonly client: Client,
    private readonly staged: Staged,
    private readonly faults: Faults,
    update = false,
  ) {
    const { table, relation } = staged;
    const names: string[] = [];
    const values: string[] = [];
    for (const { name, required, fallback } of [...table.columns, ...table.derived]) {
      names.push(`"${name}"`);
      values.push(required && fallback !== null ? `coalesce(s."${name}", ${fallback})` : `s."${name}"`);
    }
    if (table.owned) {
      names.push('organization_id');
      values.push('current_organization_id()');
    }
    // Names no conflict target: with one, row-level security would require the new row to be visible.
    this.insert = `INSERT INTO ${table.name} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${relation} s
      WHERE s.known IS NULL AND s.line > $1 AND s.line <= $2 ORDER BY s.line ${isHideable(table) ? 'ON CONFLICT DO NOTHING' : ''}`;
    // Otherwise no row is known, and a plan for the table as it was, nearly empty, would read all of it for each batch.
    this.update = update ? Updates.statement(staged) : null;
  }

  /** Stops after the first batch with a fault. @returns the number of rows written */
  async write(onLines: (lines: number) => void): Promise<number> {
    const { lastLine } = this.staged;
    let written = 0;
    for (let from = 0; from < lastLine && this.faults.count === 0; from += BATCH_LINES) {
      const to = Math.min(from + BATCH_LINES, lastLine);
      written += await this.range(from, to);
      onLines(to);
    }
    return written;
  }

  /** Writes the lines after `from`, through `to`. If the database rejects them, bisects to find the faulty line. */
  private async range(from: number, to: number): Promise<number> {
    const written = await this.attempt(from, to);
    if (typeof written === 'number') {
      if (isHideable(this.staged.table)) await this.refuseTaken(from, to, written);
      return written;
    }
    if (to - from === 1) {
      this.report(to, written);
      return 0;
    }
    const middle = from + Math.ceil((to - from) / 2);
    const first = await this.range(from, middle);
    return this.sought < SOUGHT ? first + (await this.range(middle, to)) : first;
  }

  /** @returns the number of rows written, or the error if the database rejected them */
  private async attempt(from: number, to: number): Promise<number | DatabaseError> {
    // Who may have results depends on the sessions of this import, which are counted at the end of a transaction, or now.
    if (this.staged.table.name === 'results')
      await this.client.query('SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED');
    await this.client.query('SAVEPOINT batch');
    try {
      const { rowCount } = await this.client.query(this.insert, [from, to]);
      if (this.update) await this.client.query(this.update, [from, to]);
      await this.client.query('RELEASE SAVEPOINT batch');
      return rowCount ?? 0;
    } catch (error) {
      if (!isFault(error)) throw error;
      await this.client.query('ROLLBACK TO SAVEPOINT batch; RELEASE SAVEPOINT batch');
      return error;
    }
  }

  private async refuseTaken(from: number, to: number, written: number): Promise<void> {
    const { rows } = await this.client.query<{ lines: number }>(
      `SELECT count(*)::integer AS lines FROM ${this.staged.relation} WHERE known IS NULL AND line > $1 AND line <= $2`,
      [from, to],
    );
    if (rows[0]!.lines === written) return;
    const { name, file } = this.staged.table;
    const message = name === 'users' ? 'is taken by another login' : 'is taken';
    for (const { line, field } of await takenLines(this.client, this.staged, from, to)) {
      this.faults.add(file, line, field, message);
    }
  }

  private report(line: number, error: DatabaseError): void {
    const { name, file, key, references, uniques, checks, rules } = this.staged.table;
    const { constraint } = error;
    this.sought++;
    const addFault = (columns: string[], message: string) => {
      this.faults.add(file, line, fieldsOf(this.staged.table, columns), message);
    };
    const reference = references.find((candidate) => candidate.constraint === constraint);
    const unique = uniques.find((candidate) => candidate.index === constraint);
    const check = checks.find((candidate) => candidate.constraint === constraint);
    if (reference) addFault([reference.column], `no such ${nounOf(reference.table)} in this organization`);
    else if (unique) addFault(unique.columns, 'is taken');
    else if (check) addFault(check.at, check.message);
    else if (error.code === SQLSTATE.uniqueViolation) addFault(key, 'is taken');
    else if (error.code === SQLSTATE.insufficientPrivilege) {
      const through = rules.ownedThrough;
      addFault(through ? [through] : key, `this ${nounOf(name)} would belong to another organization`);
    } else this.faults.add(file, line, null, error.message);
  }
}

/** Whether the rows are to blame rather than the connection or the server. */
function isFault(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(22|23|54|42501)/.test(error.code ?? '');
}
