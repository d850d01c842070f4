import { Controller, Get, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { raw } from 'sql-template-tag';
import { Database, pendingMigrations } from '@app/database';
import { Polled, Shutdown } from '@app/serving';
import { Probe } from '../web/access.decorators.js';
import { PageError } from '../web/page-error.js';

/** For load balancers and orchestrators: no key is required, and nothing personal is reported. */
@Controller('health')
@Probe()
class HealthController implements OnModuleInit, OnApplicationShutdown {
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

  /** Liveness. Depends on nothing else: restarting the process would not bring a database back. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Readiness. @throws PageError 503 while the database does not answer or lacks migrations, and when the process is about to end */
  @Get('ready')
  ready(): { status: 'ok' } {
    if (this.shutdown.underWay) throw PageError.restarting();
    if (this.pending.current?.length !== 0) throw PageError.databaseAway();
    return { status: 'ok' };
  }
}

@Module({ controllers: [HealthController] })
export class HealthModule {}
