import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Env } from '@app/config';
import { pendingMigrations } from './migrate.js';
import { roleFaults } from './roles.js';

/**
 * Looks at the database before the process serves anybody. In production it refuses to start on a role that row-level
 * security does not hold, or on a schema that is not this build's; elsewhere it warns.
 */
@Injectable()
export class StartCheck implements OnApplicationBootstrap {
  private readonly log = new Logger(StartCheck.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const pending = await pendingMigrations(this.dataSource);
    const faults = await roleFaults(this.dataSource);
    if (pending.length > 0) faults.push(`${pending.length} migrations are pending: run "npm run cli -- migrate" first`);
    if (faults.length > 0 && this.env.production) throw new Error(`Not safe to start: ${faults.join('; ')}`);
    for (const fault of faults) this.log.warn(fault);
  }
}
