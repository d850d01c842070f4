import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { Env } from '@app/config';
import { pendingMigrations } from './applied-migrations.js';
import type { ProcessRole } from './grants.js';
import { Presence, presentWithoutRedis } from './presence.js';
import { roleFaults } from './roles.js';

/** What several processes of a kind do without Redis. The portal counts in PostgreSQL. */
const APART: Partial<Record<ProcessRole, string>> = {
  api: 'each counts rate limits by itself',
  worker: 'each runs all recurring jobs',
};

/** Checks the database at start. In production, a role that can do too much or a missing migration stops the process; elsewhere it warns. */
export class StartCheck implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly log = new Logger(StartCheck.name);
  private presence: Presence | null = null;

  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
    private readonly role: ProcessRole,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const pending = await pendingMigrations(this.dataSource);
    // Missing migrations are reported first, because another schema has other rights.
    const faults =
      pending.length > 0
        ? [`${pending.length} pending migrations: run "npm run cli -- migrate" first`]
        : await roleFaults(this.dataSource, this.role);
    const told = `MIGRATION_DATABASE_URL is set: unset it for the ${this.role}, which must not know the owner's password`;
    if (this.env.get('MIGRATION_DATABASE_URL')) faults.push(told);
    if (faults.length > 0 && this.env.production) throw new Error(`Not safe to start: ${faults.join('; ')}`);
    for (const fault of faults) this.log.warn(fault);
    if (this.env.production) await this.findOthers(APART[this.role]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.presence?.end();
  }

  /** Only warns: while a single process is replaced, its successor runs beside it. */
  private async findOthers(apart: string | undefined): Promise<void> {
    if (!apart) return;
    const withRedis = this.env.get('REDIS_URL') !== null;
    if (!withRedis) this.presence = new Presence(this.env.urlOf(this.role), this.role);
    const isShown = (await this.presence?.show()) ?? false;
    const others = (await presentWithoutRedis(this.dataSource, this.role)) > (isShown ? 1 : 0);
    // Nobody is seen behind a pooler, but a single process would not need it.
    if (!others && (withRedis || isShown)) return;
    const who = others ? `Another ${this.role} uses this database` : `This ${this.role} runs behind a pooler`;
    this.log.warn(`${who} without REDIS_URL: several need it, or ${apart}`);
  }
}
