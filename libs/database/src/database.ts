import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import sql, { raw, type Sql } from 'sql-template-tag';
import type { DataSource } from 'typeorm';
import { type BoundStatement, runTogether, sendable, STALE, type Statement } from './batch.js';
import { poolOf } from './data-source.js';
import { Deadline, DeadlineExceeded } from './deadline.js';
import { Lease } from './lease.js';
import { lockNumber } from './locks.js';
import { MOST_BEHIND, type Positions } from './replicas/positions.js';
import { type ReadsSoFar, type Replicas, WRITTEN } from './replicas/replicas.js';
import { RetryTransaction } from './retry-transaction.js';
import { SQLSTATE, sqlStateOf } from './sql-state.js';
import { readAs, readReplicaAs, type Tenant, writeAs } from './tenant.js';

/** The ambient transaction, and how to undo its effects outside the database. */
interface UnitOfWork {
  /** Null once the work has ended, because the connection is another transaction's then. */
  client: PoolClient | null;
  undo: (() => Promise<void>)[];
  /** The first error of a statement: the cause of all that follow. */
  failure?: { error: unknown };
}

interface Committed<T> {
  value: T;
  /** How far the log was written; null if nobody asked, or the answer was lost. */
  position: string | null;
}

/** SQLSTATEs of transactions that had no effect and can run again. */
const RETRIED = new Set<string | undefined>([SQLSTATE.serializationFailure, SQLSTATE.deadlockDetected, ...STALE]);
/** Each concurrent writer of the same rows can cause one retry; the batches of ten organizations may overlap. */
const ATTEMPTS = 10;

/** The most statements of writes that are prepared. */
const MOST_WRITTEN = 500;

/** All access to PostgreSQL. A read is one pipelined READ ONLY transaction. A write's transaction is ambient, so no function can forget it. */
export class Database {
  private readonly ambient = new AsyncLocalStorage<UnitOfWork>();
  /** By text. */
  private readonly statements = new Map<string, Statement>();
  /** The names of those in writes, which the driver prepares. */
  private readonly written = new Map<string, string>();

  /** @param patience how long an access may take when nothing else sets its deadline (ms) */
  constructor(
    private readonly dataSource: DataSource,
    private readonly patience = Infinity,
    /** Told of each commit, if there are replicas. */
    private readonly positions: Positions | null = null,
    /** What tenants that allow it read from. */
    private readonly replicas: Replicas | null = null,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.replicas?.close();
    this.positions?.close();
  }

  private lease(deadline = Deadline.current ?? new Deadline(this.patience)): Lease {
    return new Lease(deadline);
  }

  /** Runs the statements in one READ ONLY transaction of the tenant, in one round trip. @throws the first one's error */
  async read<Rows extends QueryResultRow[]>(
    tenant: Tenant,
    ...statements: Sql[]
  ): Promise<{ [Index in keyof Rows]: Rows[Index][] }> {
    const proof = tenant.proof?.settled === false ? tenant.proof : null;
    const prepared = statements.map((statement) => this.prepare(statement));
    if (proof) prepared.unshift(this.prepare(proof.statement));
    const [, ...rows] =
      (tenant.replica && (await this.readReplica(tenant, prepared))) || (await this.readPrimary(tenant, prepared));
    if (proof) proof.settle(rows.shift()!);
    return rows as never;
  }

  private readPrimary(tenant: Tenant, prepared: BoundStatement[]): Promise<QueryResultRow[][]> {
    const lease = this.lease(tenant.deadline);
    return runTogether(this.pool, [readAs(tenant, lease), ...prepared], lease);
  }

  private async readReplica(tenant: Tenant, prepared: BoundStatement[]): Promise<QueryResultRow[][] | null> {
    const { deadline = Deadline.current ?? new Deadline(this.patience), organizationId } = tenant;
    if (!this.replicas) return null;
    return this.replicas.read(organizationId, deadline, (pool, lease, position) =>
      runTogether(pool, [readReplicaAs(tenant, lease, position), ...prepared], lease),
    );
  }

  /** A lookup before the organization is known (SECURITY DEFINER functions of the schema). */
  async lookUp<Row extends QueryResultRow>(statement: Sql, deadline?: Deadline): Promise<Row[]> {
    const [rows] = await runTogether(this.pool, [this.prepare(statement)], this.lease(deadline));
    return rows as Row[];
  }

  /**
   * Runs `work` in one transaction of the tenant. Deadlocks, serialization failures and {@link RetryTransaction} run it again, so it must
   * have no effect outside the database.
   */
  async transaction<T>(tenant: Tenant, work: () => Promise<T>, isolation?: 'REPEATABLE READ'): Promise<T> {
    if (this.ambient.getStore()) throw new Error('A transaction is open already: units of work do not nest');
    const lease = this.lease(tenant.deadline);
    const { value, position } = await lease.run(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.attempt(tenant, lease, work, isolation);
        } catch (error) {
          const again = error instanceof RetryTransaction || RETRIED.has(sqlStateOf(error));
          if (attempt === ATTEMPTS || !again) throw error;
        }
      }
    });
    await this.tell([tenant.organizationId], position);
    return value;
  }

  /** Has later reads show what organizations have written. @param position null if it is unknown */
  private async tell(organizationIds: string[], position: string | null): Promise<void> {
    if (position !== null) await this.positions?.tell(organizationIds, position);
    else if (this.positions) await sleep(MOST_BEHIND);
  }

  /** The same within the ambient transaction, of what others have committed. */
  async tellOthers(organizationIds: string[]): Promise<void> {
    if (this.positions)
      await this.tell(organizationIds, (await this.query<{ position: string }>(raw(WRITTEN)))[0]!.position);
  }

  private async attempt<T>(
    tenant: Tenant,
    lease: Lease,
    work: () => Promise<T>,
    isolation?: 'REPEATABLE READ',
  ): Promise<Committed<T>> {
    const client = await this.pool.connect();
    let unusable = false;
    try {
      if (!lease.take(client)) throw new DeadlineExceeded();
      // They share a round trip with the first statement of the work, which does nothing if one of them fails.
      const begun = Promise.all([
        client.query(isolation ? `BEGIN ISOLATION LEVEL ${isolation}` : 'BEGIN'),
        client.query(writeAs(tenant, lease)),
      ]);
      return await this.run(client, begun, work);
    } catch (error) {
      unusable = STALE.has(sqlStateOf(error) ?? '');
      await client.query('ROLLBACK').catch(() => (unusable = true));
      throw error;
    } finally {
      client.release(unusable);
    }
  }

  /** Up to the commit. @param begun the beginning of the transaction @throws its error rather than what follows from it */
  private async run<T>(client: PoolClient, begun: Promise<unknown>, work: () => Promise<T>): Promise<Committed<T>> {
    const unit: UnitOfWork = { client, undo: [] };
    const [beginning, done] = await Promise.allSettled([begun, this.ambient.run(unit, async () => work())]);
    unit.client = null;
    let cause: unknown = [beginning, done].find((part) => part.status === 'rejected')?.reason ?? unit.failure?.error;
    if (cause === undefined && done.status === 'fulfilled') {
      try {
        // They share a packet.
        const committed = client.query('COMMIT');
        const written = this.positions ? client.query<{ position: string }>(WRITTEN).catch(() => null) : null;
        await committed;
        return { value: done.value, position: (await written)?.rows[0]?.position ?? null };
      } catch (error) {
        // What is checked last has failed. Without an answer, as when the connection is lost, the result is unknown.
        if ((error as { severity?: string }).severity !== 'ERROR') throw error;
        cause = error;
      }
    }
    await Promise.allSettled(unit.undo.map((step) => step()));
    throw cause;
  }

  /** Identifies the ambient transaction. */
  get unitOfWork(): object {
    return this.unit;
  }

  /** Registers a step that undoes an effect outside the database if the unit of work fails before its commit. */
  onRollback(step: () => Promise<void>): void {
    this.unit.undo.push(step);
  }

  private get unit(): UnitOfWork {
    const unit = this.ambient.getStore();
    if (!unit) throw new Error('No transaction is open: wrap the unit of work in Database.transaction');
    return unit;
  }

  /** Rows of a statement inside the ambient transaction. */
  async query<Row extends QueryResultRow>(statement: Sql): Promise<Row[]> {
    return (await this.execute<Row>(statement)).rows;
  }

  /** Runs a statement inside the ambient transaction. @returns how many rows it has written */
  async count(statement: Sql): Promise<number> {
    return (await this.execute(statement)).rowCount ?? 0;
  }

  /** @throws the first error of the transaction, whichever statement reports it: those sent together with it only say that it was aborted */
  private async execute<Row extends QueryResultRow>({ text, values }: Sql): Promise<QueryResult<Row>> {
    const { unit } = this;
    if (!unit.client) throw new Error('The transaction has ended: await all work in it');
    try {
      return await unit.client.query<Row>({ name: this.writeName(text), text, values });
    } catch (error) {
      unit.failure ??= { error };
      throw unit.failure.error;
    }
  }

  /**
   * Waits for the locks with these names, one after the other, and holds them until the end of the ambient transaction. There is one
   * order of locks for all, each kind sorted by id, so that nobody waits in a circle:
   *
   * 0. a table that is replaced as a whole (`tableLock`), by whoever writes its rows;
   * 1. the organization's provisioning, by whoever ends or changes people; by whoever adds some beside others, then the new addresses;
   * 2. sessions, which are then read again;
   * 3. people ({@link lockPeople}), then their rows and those that name them, such as leads and requests;
   * 4. the tutor's calendar, then those of students who must not be booked twice, accounts, invoices, counters (numbers, the mails of
   *    the day);
   * 5. rows of `users`, which organizations share: at the very end, so that none waits for another's work.
   *
   * docs/decisions/database.md tells why.
   */
  async lock(...names: string[]): Promise<void> {
    await this.lockEach(names, () => true);
  }

  /** The same, but the first one beside others who do. */
  async lockBeside(shared: string, ...names: string[]): Promise<void> {
    await this.lockEach([shared, ...names], (index) => index > 0);
  }

  /**
   * Locks people in an organization until the end of the ambient transaction, in one statement. Whoever relies on somebody's membership
   * uses them, beside others; whoever ends or changes it has them alone. Read their rows after it. The queue is fair: however many use
   * somebody again and again, whoever ends them comes next. Of those who share a row's lock, ever newer ones would come before.
   */
  async lockPeople(organizationId: string, uses: readonly string[], ends: readonly string[] = []): Promise<void> {
    const people = [...new Set([...uses, ...ends])].sort();
    const names = people.map((id) => `person ${id} in ${organizationId}`);
    await this.lockEach(names, (index) => ends.includes(people[index]!));
  }

  /** Connections in total, idle ones, and waiting accesses. */
  get poolState(): { total: number; idle: number; waiting: number } {
    return { total: this.pool.totalCount, idle: this.pool.idleCount, waiting: this.pool.waitingCount };
  }

  /** Null without replicas. */
  get readsSoFar(): Readonly<ReadsSoFar> | null {
    return this.replicas && this.replicas.reads;
  }

  private async lockEach(names: string[], isAlone: (index: number) => boolean): Promise<void> {
    await this.query(sql`
      SELECT CASE WHEN alone THEN pg_advisory_xact_lock(number)::text ELSE pg_advisory_xact_lock_shared(number)::text END
      FROM unnest(${names.map(lockNumber)}::bigint[], ${names.map((_, index) => isAlone(index))}::boolean[]) AS p (number, alone)`);
  }

  private get pool(): Pool {
    return poolOf(this.dataSource);
  }

  /** Undefined for texts after the first ones: some name the columns that they change, of which there are many combinations. */
  private writeName(text: string): string | undefined {
    if (!this.written.has(text) && this.written.size < MOST_WRITTEN)
      this.written.set(text, `w${this.written.size + 1}`);
    return this.written.get(text);
  }

  /** A named statement is parsed once per connection. The texts come from code: there are few, whatever the filters. */
  private prepare({ text, values }: Sql): BoundStatement {
    let statement = this.statements.get(text);
    if (!statement) {
      statement = { name: `s${this.statements.size + 1}`, text };
      this.statements.set(text, statement);
    }
    return { ...statement, values: sendable(values) };
  }
}
