import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { Pool, QueryResultRow } from 'pg';
import type { Sql } from 'sql-template-tag';
import { DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import { type Prepared, runTogether, type Statement } from './batch.js';

/** On whose behalf a transaction runs. Row-level security shows it the rows of this organization only. */
export interface Tenant {
  organizationId: string;
  /** Whether the platform's own blog posts are in sight too. */
  platformBlog?: boolean;
}

/** What is ambient: the transaction, and how to undo what it did elsewhere. */
interface UnitOfWork {
  manager: EntityManager;
  undo: (() => Promise<void>)[];
}

const SET_TENANT = `SELECT set_config('app.organization_id', $1, true), set_config('app.platform_blog', $2, true)`;

/** First in the transaction of a read: what is set for a transaction ends with it, and read only is not taken back. */
const READ_AS_TENANT = {
  name: 'read_as_tenant',
  text: `${SET_TENANT}, set_config('transaction_read_only', 'on', true)`,
};

/** Serialization failure and deadlock: the transaction did nothing and may simply run again. */
const RETRIED = new Set(['40001', '40P01']);
const ATTEMPTS = 4;

/**
 * All access to PostgreSQL. A read is one pipelined READ ONLY transaction; a write is a unit of work whose transaction
 * is ambient, so that no function has to hand it on and none can forget it.
 */
@Injectable()
export class Database {
  private readonly ambient = new AsyncLocalStorage<UnitOfWork>();
  private underWay = 0;
  /** By their texts. */
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs the statements in one READ ONLY transaction of the tenant, all of it sent at once: one round trip.
   *
   * @returns the rows of each statement, in order
   * @throws the first statement's error; the others are rolled back with it
   */
  async read<Rows extends QueryResultRow[]>(
    tenant: Tenant,
    ...statements: Sql[]
  ): Promise<{ [Index in keyof Rows]: Rows[Index][] }> {
    const settings = { ...READ_AS_TENANT, values: tenantSettings(tenant) };
    const all = [settings, ...statements.map((statement) => this.prepare(statement))];
    const [, ...rows] = await runTogether(this.pool, all);
    return rows as never;
  }

  /** One of the look-ups that come before any organization is known (SECURITY DEFINER functions of the schema). */
  async lookUp<Row extends QueryResultRow>(statement: Sql): Promise<Row[]> {
    const [rows] = await runTogether(this.pool, [this.prepare(statement)]);
    return rows as Row[];
  }

  /**
   * Runs `work` in one transaction of the tenant; everything in it reaches the transaction through {@link manager}.
   * Deadlocks and serialization failures are run again, so `work` must have no effect outside the database.
   */
  async transaction<T>(tenant: Tenant, work: () => Promise<T>): Promise<T> {
    if (this.ambient.getStore()) throw new Error('A transaction is open already: units of work do not nest');
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.dataSource.transaction(async (manager) => {
          await manager.query(SET_TENANT, tenantSettings(tenant));
          return this.run(manager, work);
        });
      } catch (error) {
        const code = error instanceof QueryFailedError ? (error.driverError as { code?: string }).code : undefined;
        if (attempt === ATTEMPTS || !code || !RETRIED.has(code)) throw error;
      }
    }
  }

  private async run<T>(manager: EntityManager, work: () => Promise<T>): Promise<T> {
    const undo: UnitOfWork['undo'] = [];
    try {
      return await this.inside({ manager, undo }, work);
    } catch (error) {
      // Not after a failed COMMIT: when its connection is lost nobody knows what became of it.
      await Promise.allSettled(undo.map((step) => step()));
      throw error;
    }
  }

  /** While a storage is in use, Node (until 24) follows every promise of the process; reads need not pay for that. */
  private async inside<T>(unit: UnitOfWork, work: () => Promise<T>): Promise<T> {
    this.underWay++;
    try {
      return await this.ambient.run(unit, work);
    } finally {
      if (--this.underWay === 0) this.ambient.disable();
    }
  }

  /** The ambient transaction's entity manager. */
  get manager(): EntityManager {
    return this.unit.manager;
  }

  /** What the ambient unit of work did outside the database is undone by `step` when it fails before its commit. */
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
    return this.manager.query<Row[]>(statement.text, statement.values);
  }

  /** Whether PostgreSQL answers, for readiness. */
  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }

  /** Connections in all, idle, and requests that wait for one. */
  get poolState(): { total: number; idle: number; waiting: number } {
    return { total: this.pool.totalCount, idle: this.pool.idleCount, waiting: this.pool.waitingCount };
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }

  /** A named statement is parsed once per connection. The texts are those of the code: few, whatever the filters. */
  private prepare({ text, values }: Sql): Prepared {
    let statement = this.statements.get(text);
    if (!statement) {
      statement = { name: `s${this.statements.size + 1}`, text };
      this.statements.set(text, statement);
    }
    return { ...statement, values };
  }
}

function tenantSettings({ organizationId, platformBlog }: Tenant): string[] {
  return [organizationId, platformBlog ? 'on' : 'off'];
}
