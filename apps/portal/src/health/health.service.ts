import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { raw } from 'sql-template-tag';
import { Database, pendingMigrations } from '@app/database';
import { Polled, Shutdown } from '@app/serving';
import { PageError } from '../web/page-error.js';

@Injectable()
export class HealthService implements OnModuleInit, OnApplicationShutdown {
  private readonly pending = new Polled(() =>
    pendingMigrations({ query: (text) => this.db.lookUp(raw(text)) as Promise<never> }),
  );

  constructor(
    private readonly db: Database,
    private readonly shutdown: Shutdown,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.pending.start();
  }

  onApplicationShutdown(): void {
    this.pending.stop();
  }

  /** @throws PageError 503 while the database does not answer or lacks migrations, and when the process is about to end */
  ready(): { status: 'ok' } {
    if (this.shutdown.underWay) throw PageError.restarting();
    if (this.pending.current?.length !== 0) throw PageError.databaseAway();
    return { status: 'ok' };
  }
}
