import pg from 'pg';

/** What this process sent to PostgreSQL while it was watched. */
export class SqlWatch {
  /** SQLSTATEs of failed statements. */
  readonly failures: string[] = [];
  /** The statements of each finished transaction, including BEGIN and COMMIT or ROLLBACK, as they ended; before each, its notices. */
  readonly transactions: string[][] = [];
  private readonly open = new Map<pg.Client, string[]>();
  private readonly heard = new WeakSet<pg.Client>();
  private readonly original: unknown = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query')!.value;

  private constructor() {
    const { failures, heard } = this;
    const note = this.note.bind(this);
    const original = this.original as (...args: unknown[]) => unknown;
    const watched = function (this: pg.Client, ...args: unknown[]): unknown {
      if (!heard.has(this)) this.on('notice', ({ message }) => note(this, `NOTICE ${message}`));
      heard.add(this);
      const result = original.apply(this, args);
      const noted = () => note(this, args[0]);
      if (result instanceof Promise) {
        result.then(noted, (error: { code?: string }) => {
          failures.push(error.code ?? 'unknown');
          noted();
        });
      }
      return result;
    };
    Object.assign(pg.Client.prototype, { query: watched });
  }

  static start(): SqlWatch {
    return new SqlWatch();
  }

  stop(): void {
    Object.assign(pg.Client.prototype, { query: this.original });
  }

  private note(client: pg.Client, query: unknown): void {
    const text = (typeof query === 'string' ? query : (query as { text: string }).text).trim();
    if (/^(BEGIN|START TRANSACTION)/.test(text)) this.open.set(client, []);
    const transaction = this.open.get(client);
    transaction?.push(text);
    if (transaction && /^(COMMIT|ROLLBACK)/.test(text)) {
      this.transactions.push(transaction);
      this.open.delete(client);
    }
  }
}
