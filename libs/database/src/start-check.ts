import { Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { Env } from '@app/config';
import { pendingMigrations } from './applied-migrations.js';
import type { ProcessRole } from './grants.js';
import { roleFaults } from './roles.js';

/** Checks the database at start. In production, a role that can do too much or a missing migration stops the process; elsewhere it warns. */
export class StartCheck implements OnApplicationBootstrap {
  private readonly log = new Logger(StartCheck.name);

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
  }
}
