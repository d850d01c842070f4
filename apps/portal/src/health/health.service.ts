import { Injectable } from '@nestjs/common';
import { raw } from 'sql-template-tag';
import { Database, pendingMigrations } from '@app/database';
import { Shutdown } from '@app/serving';
import { PageError } from '../web/page-error.js';

@Injectable()
export class HealthService {
  constructor(
    private readonly db: Database,
    private readonly shutdown: Shutdown,
  ) {}

  /** @throws PageError 503 while the database does not answer or lacks migrations, and when the process is about to end */
  async ready(): Promise<{ status: 'ok' }> {
    if (this.shutdown.underWay) throw PageError.restarting();
    const pending = await pendingMigrations({ query: (text) => this.db.lookUp(raw(text), 'urgent') as Promise<never> });
    if (pending.length > 0) throw PageError.databaseAway();
    return { status: 'ok' };
  }
}
