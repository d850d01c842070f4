import type { Client } from 'pg';
import type { Faults } from './faults.js';
import { NAMED } from '@app/people';
import { ROW_RULES, type RowRule } from './row-rules.js';
import type { Reference, Table } from './schema.js';
import { ORGANIZATION_COLUMNS, nounOf } from './tables.js';
import type { Staged } from './staging.js';

/** Tables without the organization: row-level security shows which rows are its own. */
const UNOWNED = ['users', 'conversation_participants'];

/** How many faults to fetch per rule; the others are only counted. */
const FETCHED = 1_000;

/** Finds people unknown to this organization. Checks memberships too, because pending people's logins are invisible. */
const STRANGER = ['users t WHERE t.id', 'members t WHERE t.user_id', 'parents t WHERE t.user_id']
  .map((tied) => `NOT EXISTS (SELECT FROM ${tied} = wanted)`)
  .join(' AND ');

/**
 * Checks that compare lines with each other and with the database. Each is a single statement over all staged rows and
 * finds the line of every fault.
 */
export class Checks {
  private readonly stagedByTable: Map<string, Staged>;

  constructor(
    private readonly client: Client,
    private readonly all: Staged[],
    private readonly faults: Faults,
    private readonly update = false,
  ) {
    this.stagedByTable = new Map(all.map((staged) => [staged.table.name, staged]));
  }

  /** Checks the schema's CHECK constraints, and that no two lines have the same key. */
  async lines(): Promise<void> {
    for (const staged of this.all) {
      await this.rules(staged);
      await this.duplicates(staged, staged.table.key);
    }
  }

  /** Checks everything that involves other tables. Existing rows must already be removed from the staging tables. */
  async relations(): Promise<void> {
    await this.references();
    for (const staged of this.all) for (const reference of staged.table.references) await this.role(staged, reference);
    await this.strangersConversations();
    for (const rule of ROW_RULES) await this.rowRule(rule);
  }

  /** Checks that what rows name is there, and that nothing is twice. */
  async references(): Promise<void> {
    for (const staged of this.all) {
      await this.currency(staged);
      for (const reference of staged.table.references) await this.reference(staged, reference);
      for (const { columns } of staged.table.uniques) {
        await this.duplicates(staged, columns);
        await this.clashes(staged, columns);
      }
    }
  }

  private async rules(staged: Staged): Promise<void> {
    const { checks } = staged.table;
    if (checks.length === 0) return;
    const broken = checks.map(({ expression }) => `(${expression}) IS FALSE`);
    const { rows } = await this.client.query<{ line: number; place: number; total: string }>(`
      SELECT s.line, b.place, count(*) OVER () AS total
      FROM (SELECT * FROM ${wholeRows(staged)} r WHERE ${broken.join(' OR ')}) s
      CROSS JOIN LATERAL (VALUES ${broken.map((rule, place) => `(${place}, ${rule})`).join(', ')}) b (place, broken)
      WHERE b.broken ORDER BY s.line, b.place LIMIT ${FETCHED}`);
    this.report(staged, rows, ({ place }) => ({ columns: checks[place]!.at, message: checks[place]!.message }));
  }

  private async duplicates(staged: Staged, columns: string[]): Promise<void> {
    const list = columns.map((column) => `"${column}"`).join(', ');
    const { rows } = await this.client.query<{ line: number; first: number; total: string }>(`
      SELECT s.line, d.first, count(*) OVER () AS total
      FROM ${staged.relation} s
      JOIN (SELECT ${list}, min(line) AS first FROM ${staged.relation} GROUP BY ${list} HAVING count(*) > 1) d
      USING (${list}) WHERE s.line > d.first ORDER BY s.line LIMIT ${FETCHED}`);
    this.report(staged, rows, ({ first }) => ({ columns, message: `is the same as on line ${first}` }));
  }

  private async clashes(staged: Staged, columns: string[]): Promise<void> {
    const { name } = staged.table;
    const same = columns.map((column) => `t."${column}" = s."${column}"`).join(' AND ');
    const itself = staged.table.key.map((column) => `t."${column}" = s."${column}"`).join(' AND ');
    const { rows } = await this.client.query<{ line: number; total: string }>(`
      SELECT s.line, count(*) OVER () AS total FROM ${staged.relation} s
      WHERE EXISTS (SELECT FROM ${name} t WHERE ${same} AND NOT (${itself}) ${mine(staged)}) ORDER BY s.line LIMIT ${FETCHED}`);
    const whose = name === 'users' ? 'another login' : `another ${nounOf(name)} of this organization`;
    this.report(staged, rows, () => ({ columns, message: `is taken by ${whose}` }));
  }

  /** An organization has one currency. */
  private async currency(staged: Staged): Promise<void> {
    if (!staged.table.columns.some(({ name }) => name === 'currency')) return;
    const { rows } = await this.client.query<{ line: number; own: string; total: string }>(`
      SELECT s.line, o.currency AS own, count(*) OVER () AS total FROM ${staged.relation} s, organizations o
      WHERE o.id = current_organization_id() AND s.currency <> o.currency ORDER BY s.line LIMIT ${FETCHED}`);
    this.report(staged, rows, ({ own }) => ({
      columns: ['currency'],
      message: `must be ${own}, like the organization’s`,
    }));
  }

  /** Checks that the referenced row is staged, or exists and is visible to this organization. */
  private async reference(staged: Staged, { column, table, key }: Reference): Promise<void> {
    const target = this.stagedByTable.get(table);
    // Within a table, rows are written in the order of their lines.
    const earlier = target === staged ? 'AND r.line < s.line' : '';
    const notStaged = target
      ? `AND NOT EXISTS (SELECT FROM ${target.relation} r WHERE r."${key}" = s."${column}" ${earlier})`
      : '';
    // Looks at staged rows first. Usually nothing is left to look up in the table, where row-level security is costly.
    const { rows } = await this.client.query<{ line: number; total: string }>(`
      WITH missing AS MATERIALIZED (
        SELECT s.line, s."${column}" AS wanted FROM ${staged.relation} s WHERE s."${column}" IS NOT NULL ${notStaged})
      SELECT line, count(*) OVER () AS total FROM missing
      WHERE ${table === 'users' ? STRANGER : `NOT EXISTS (SELECT FROM ${table} t WHERE t."${key}" = wanted)`} ORDER BY line LIMIT ${FETCHED}`);
    const message = `no such ${nounOf(table)} in this organization${earlier && ', nor on an earlier line'}`;
    this.report(staged, rows, () => ({ columns: [column], message }));
  }

  /** Checks that a column that names a tutor or a student names one. Whoever is unknown is a fault of the reference. */
  private async role(staged: Staged, { column, table }: Reference): Promise<void> {
    const part = NAMED[column] ?? (staged.table.name === 'tutor_profiles' && column === 'user_id' ? 'teach' : null);
    if (!part || !['members', 'users'].includes(table)) return;
    const known = table === 'users' ? [this.after('users', 'id'), this.after('parents', 'user_id')] : [];
    const named = (rows: string, key: string) => `EXISTS (SELECT FROM ${rows} k WHERE k."${key}" = s."${column}")`;
    const { rows } = await this.client.query<{ line: number; total: string }>(`
      SELECT s.line, count(*) OVER () AS total FROM ${staged.relation} s
      LEFT JOIN ${this.after('members', 'user_id', 'role')} m ON m.user_id = s."${column}"
      WHERE s."${column}" IS NOT NULL AND CASE WHEN m.role IS NOT NULL THEN m.role ${part === 'teach' ? '=' : '<>'} 'student'
        ELSE ${known.length > 0 ? `${named(known[0]!, 'id')} OR ${named(known[1]!, 'user_id')}` : 'false'} END
      ORDER BY s.line LIMIT ${FETCHED}`);
    const message = `is not ${part === 'teach' ? 'staff' : 'a student'} of this organization`;
    this.report(staged, rows, () => ({ columns: [column], message }));
  }

  private async rowRule({ table, at, words, join, broken }: RowRule): Promise<void> {
    const staged = this.stagedByTable.get(table);
    if (!staged) return;
    const { rows } = await this.client.query<{ line: number; total: string }>(`
      SELECT line, count(*) OVER () AS total FROM (SELECT DISTINCT s.line FROM ${wholeRows(staged)} s
        ${join?.((...of) => this.after(...of)) ?? ''} WHERE ${broken}) b ORDER BY line LIMIT ${FETCHED}`);
    this.report(staged, rows, () => ({ columns: [at], message: words }));
  }

  /** The rows that a table will have: see {@link After}. */
  private after(name: string, ...columns: string[]): string {
    const list = columns.map((column) => `"${column}"`).join(', ');
    const staged = this.stagedByTable.get(name);
    const own = UNOWNED.includes(name) ? 'true' : 't.organization_id = current_organization_id()';
    const same = staged?.table.key.map((column) => `k."${column}" = t."${column}"`).join(' AND ');
    // A row that the file changes counts as it will be.
    const others = this.update && staged ? `AND NOT EXISTS (SELECT FROM ${staged.relation} k WHERE ${same})` : '';
    const added = staged ? `UNION ALL SELECT line, ${list} FROM ${wholeRows(staged)} r` : '';
    return `(SELECT 0 AS line, ${list} FROM ${name} t WHERE ${own} ${others} ${added})`;
  }

  /** A conversation without a past or present participant from this organization would belong to another one. */
  private async strangersConversations(): Promise<void> {
    const conversations = this.stagedByTable.get('conversations');
    if (!conversations) return;
    const seats = this.stagedByTable.get('conversation_participants');
    const members = this.stagedByTable.get('members');
    const own = (table: string, where: string) => `EXISTS (SELECT FROM ${table} m WHERE m.user_id = ${where})`;
    const { rows } = await this.client.query<{ line: number; total: string }>(`
      SELECT s.line, count(*) OVER () AS total FROM ${conversations.relation} s
      WHERE ${
        seats
          ? `NOT EXISTS (SELECT FROM ${seats.relation} p WHERE p.conversation_id = s.id
        AND (${own('members', 'p.user_id')} ${members ? `OR ${own(members.relation, 'p.user_id')}` : ''}))`
          : 'true'
      }
      ORDER BY s.line LIMIT ${FETCHED}`);
    const message = 'has no participant from this organization (see conversation_participants.ndjson)';
    this.report(conversations, rows, () => ({ columns: ['id'], message }));
  }

  private report<Row extends { line: number; total: string }>(
    { table }: Staged,
    rows: Row[],
    describe: (row: Row) => { columns: string[]; message: string },
  ): void {
    for (const row of rows) {
      const { columns, message } = describe(row);
      this.faults.add(table.file, row.line, fieldsOf(table, columns), message);
    }
    this.faults.addMore(Number(rows[0]?.total ?? 0) - rows.length);
  }
}

/** The fields of the file to blame for a fault in these columns. */
export function fieldsOf({ rules: { fieldOf = {} } }: Table, columns: string[]): string {
  return columns
    .filter((column) => !ORGANIZATION_COLUMNS.has(column) || fieldOf[column])
    .map((column) => fieldOf[column] ?? column)
    .join(', ');
}

/** A default that a trigger replaces. */
const MADE = `''::text`;

/** The staged rows with the values that their missing fields will have. */
function wholeRows({ table, relation }: Staged): string {
  const columns = [...table.columns, ...table.derived].map(({ name, required, fallback }) =>
    required && fallback !== null && fallback !== MADE ? `coalesce("${name}", ${fallback}) AS "${name}"` : `"${name}"`,
  );
  const kept = table.kept.map(({ name, fallback }) => `${fallback!} AS "${name}"`);
  return `(SELECT line, ${[...columns, ...kept].join(', ')} FROM ${relation})`;
}

/** Row-level security implies this condition, but every query names its organization. */
export function mine({ table }: Staged): string {
  return table.owned ? 'AND t.organization_id = current_organization_id()' : '';
}
