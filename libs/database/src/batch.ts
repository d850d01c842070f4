import type { Writable } from 'node:stream';
import pg, { type PoolClient, type QueryResultRow } from 'pg';

/** A statement that each connection is told once, by its name. */
export interface Prepared {
  name: string;
  text: string;
  values: unknown[];
}

/** What the driver's classes have and their types leave out: the messages of the protocol, and how rows are read. */
interface Wire {
  stream: Writable;
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(portal: { type: 'P' }): void;
  execute(portal: object): void;
  sync(): void;
}
interface Columns {
  addFields(fields: unknown[]): void;
  parseRow(values: unknown[]): QueryResultRow;
}
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;
const newColumns = (): Columns => new pg.Result('', pg.types) as unknown as Columns;
/** The driver takes no other query on a pipelined connection. */
const Query = pg.Query as unknown as new (text: string) => object;

/** What each connection has been told, and the columns that it answers with. */
const told = new WeakMap<Wire, Map<string, Columns>>();

/**
 * Statements that go out in one packet and are answered in one: one transaction, which PostgreSQL begins with the first of
 * them and ends after the last (one Sync of the protocol for all). One that fails undoes all of them.
 */
class Batch extends Query {
  readonly answers: QueryResultRow[][];
  /** Whether the connection was being told new statements: if that fails, nobody knows which of them it knows. */
  telling = false;
  private readonly columns: Columns[];
  private connection: Wire;
  private running = 0;
  private unreadable: Error | undefined;

  constructor(
    readonly statements: Prepared[],
    private readonly callback: (error: Error | null) => void,
  ) {
    super('');
    this.answers = statements.map(() => []);
    this.columns = statements.map(newColumns);
  }

  submit(connection: Wire): void {
    this.connection = connection;
    const known = told.get(connection);
    connection.stream.cork();
    try {
      this.statements.forEach(({ name, text, values }, index) => {
        const columns = known?.get(name);
        if (columns) this.columns[index] = columns;
        else connection.parse({ name, text });
        connection.bind({ statement: name, values, valueMapper: prepareValue });
        if (!columns) connection.describe({ type: 'P' });
        connection.execute({});
        this.telling ||= !columns;
      });
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { fields: unknown[] }): void {
    this.columns[this.running]!.addFields(fields);
  }

  handleDataRow({ fields }: { fields: unknown[] }): void {
    try {
      this.answers[this.running]!.push(this.columns[this.running]!.parseRow(fields));
    } catch (error) {
      this.unreadable = error as Error;
    }
  }

  handleCommandComplete(): void {
    this.running++;
  }

  handleReadyForQuery(): void {
    if (this.telling) this.remember();
    this.callback(this.unreadable ?? null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  private remember(): void {
    const known = told.get(this.connection) ?? new Map<string, Columns>();
    this.statements.forEach(({ name }, index) => known.set(name, this.columns[index]!));
    told.set(this.connection, known);
  }
}

/** What a connection says of statements that it was told before the schema changed, or that were taken from it. */
const STALE = new Set(['0A000', '26000']);

/**
 * Runs the statements as one transaction, in one round trip, and gives the connection back to its pool: or ends it, where
 * it is no longer known what it was told.
 *
 * @returns the rows of each statement, in order
 * @throws the error of the one that failed
 */
export function runTogether(client: PoolClient, statements: Prepared[]): Promise<QueryResultRow[][]> {
  return new Promise((resolve, reject) => {
    const batch = new Batch(statements, (error) => {
      const code = (error as { code?: string } | null)?.code ?? '';
      client.release(error !== null && (batch.telling || STALE.has(code)));
      if (error) reject(error);
      else resolve(batch.answers);
    });
    client.query(batch as unknown as pg.Submittable);
  });
}
