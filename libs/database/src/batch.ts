import type { Writable } from 'node:stream';
import pg, { type Pool, type QueryResultRow } from 'pg';
import { DeadlineExceeded } from './deadline.js';
import type { Lease } from './lease.js';

/** A statement that each connection prepares once. Its name is unique to its text. */
export type Statement = Record<'name' | 'text', string>;
export type BoundStatement = Statement & { values: unknown[] };

/** Parts of the driver's classes that their types omit: protocol messages, and the reading of rows. */
interface Wire {
  stream: Writable;
  parse(statement: Statement): void;
  bind(portal: { statement: string; values: unknown[] }): void;
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

/** The statements that each connection has prepared, and their result columns. */
const prepared = new WeakMap<Wire, Map<string, Columns>>();

/**
 * Statements in one packet, and one transaction, because they share a Sync message. The driver's pipelining sends BEGIN, each statement and
 * COMMIT with a Sync each: 23 % more CPU for a whole request, 7 to 28 % in single rounds (Node 24, pg 8.23).
 */
class Batch extends Query {
  readonly answers: QueryResultRow[][];
  /** Statements that the connection is preparing. If the batch fails, it is unknown which of them are prepared. */
  readonly preparing = new Map<string, Columns>();
  private readonly columns: Columns[] = [];
  private connection: Wire;
  private running = 0;
  private unreadable: Error | undefined;

  constructor(
    readonly statements: BoundStatement[],
    private readonly callback: (error: Error | null) => void,
  ) {
    super('');
    this.answers = statements.map(() => []);
  }

  submit(connection: Wire): void {
    this.connection = connection;
    connection.stream.cork();
    try {
      for (const statement of this.statements) this.send(statement);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  private send({ name, text, values }: BoundStatement): void {
    const { connection, preparing } = this;
    const known = prepared.get(connection)?.get(text) ?? preparing.get(text);
    const columns = known ?? newColumns();
    this.columns.push(columns);
    if (!known) {
      connection.parse({ name, text });
      preparing.set(text, columns);
    }
    connection.bind({ statement: name, values });
    if (!known) connection.describe({ type: 'P' });
    connection.execute({});
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
    if (this.preparing.size > 0)
      prepared.set(this.connection, new Map([...(prepared.get(this.connection) ?? []), ...this.preparing]));
    this.callback(this.unreadable ?? null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

/** SQLSTATEs of statements that were prepared before the schema changed, or that were deallocated. */
export const STALE: ReadonlySet<string> = new Set(['0A000', '26000']);

/** Converts values as the driver does, before a connection is taken: one that cannot be sent leaves no connection half used. */
export function sendable(values: unknown[]): unknown[] {
  return values.map(prepareValue);
}

/**
 * Runs the statements as one transaction, in one round trip. Ends the lease, and a connection in an unknown state.
 * @param statements with {@link sendable} values @throws the error of the failed statement; DeadlineExceeded
 */
export function runTogether(pool: Pool, statements: BoundStatement[], lease: Lease): Promise<QueryResultRow[][]> {
  return new Promise((resolve, reject) => {
    lease.onExpiry(reject);
    pool.connect((refused, client, release) => {
      if (!client || !lease.take(client)) {
        // Contrary to its types, a pool that times out or has ended passes no function.
        if (client) release();
        lease.end();
        reject(refused ?? new DeadlineExceeded());
        return;
      }
      const batch = new Batch(statements, (error) => {
        const code = (error as { code?: string } | null)?.code ?? '';
        release(error !== null && (batch.preparing.size > 0 || STALE.has(code)));
        lease.end();
        if (error) reject(error);
        else resolve(batch.answers);
      });
      client.query(batch as unknown as pg.Submittable);
    });
  });
}
