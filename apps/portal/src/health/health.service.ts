import { Injectable } from '@nestjs/common';
import { raw } from 'sql-template-tag';
import { Database, pendingMigrations } from '@app/database';
import { PageError } from '../web/page-error.js';

@Injectable()
export class HealthService {
  constructor(private readonly db: Database) {}

  /** @throws PageError 503 while the database does not answer or lacks migrations */
  async ready(): Promise<{ status: 'ok' }> {
    const pending = await pendingMigrations({ query: (text) => this.db.lookUp(raw(text), 'urgent') as Promise<never> });
    if (pending.length > 0) throw PageError.databaseAway();
    return { status: 'ok' };
  }
}
