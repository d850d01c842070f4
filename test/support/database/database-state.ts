import type { Factories } from '../data/factories.js';

interface Table {
  name: string;
  /** Without generated columns. */
  columns: string;
}

/** Values that differ between two runs of the same request: ids, times, encrypted or random bytes, secrets in links. */
const VARYING = [
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g,
  /\\\\x[0-9a-f]{16,}/g,
  /(?<=\/join\/|"token":")[\w-]+/g,
];

/** Saves all rows of a database, to restore them and to compare later states with them. */
export class DatabaseState {
  /** The saved values of the {@link VARYING} kinds. */
  private readonly known = new Set<string>();

  private constructor(
    private readonly make: Factories,
    private readonly tables: Table[],
  ) {}

  static async save(make: Factories): Promise<DatabaseState> {
    const tables = await make.query<Table>(
      `SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attgenerated = '' GROUP BY 1 ORDER BY 1`,
    );
    await make.query('CREATE SCHEMA saved');
    for (const { name } of tables) await make.query(`CREATE TABLE saved.${name} AS TABLE public.${name}`);
    const state = new DatabaseState(make, tables);
    for (const row of await state.texts()) for (const value of varying(row)) state.known.add(value);
    return state;
  }

  /** Restores the saved rows. */
  async restore(): Promise<void> {
    const statements = this.tables.map(
      ({ name, columns }) => `DELETE FROM ${name}; INSERT INTO ${name} (${columns}) SELECT ${columns} FROM saved.${name}`,
    );
    await this.make.withoutTriggers(statements.join('; '));
  }

  /**
   * All rows, sorted, with a placeholder for each varying value that was not saved. Omits the keys' `last_used_at`, the order of changes and
   * the audit rows and counts of requests without effect.
   */
  async rows(): Promise<string[]> {
    return (await this.texts()).map((row) => this.mask(row)).sort();
  }

  /** Replaces varying values that were not saved. */
  mask(text: string): string {
    return VARYING.reduce((masked, pattern) => masked.replaceAll(pattern, (value) => (this.known.has(value) ? value : '…')), text);
  }

  private async texts(): Promise<string[]> {
    const parts = this.tables.map(
      ({ name }) => `SELECT '${name} ' || (to_jsonb(t) - '{last_used_at,seq,transaction}'::text[])::text AS row FROM ${name} t
        ${name === 'audit_log' ? `WHERE status < 400` : name === 'refusals' ? 'WHERE false' : ''}`,
    );
    return (await this.make.query<{ row: string }>(parts.join(' UNION ALL '))).map(({ row }) => row);
  }
}

function varying(text: string): string[] {
  return VARYING.flatMap((pattern) => text.match(pattern) ?? []);
}
