import {
  Controller,
  Get,
  Header,
  Injectable,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Registry } from 'prom-client';
import { raw } from 'sql-template-tag';
import { Database, pendingMigrations } from '@app/database';
import { measureProcess, METRICS_TYPE, Polled, requestDurations, Shutdown } from '@app/serving';
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

/** What `/metrics` reports: nothing personal, but how busy the portal is. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly requests = requestDurations(this.registry);

  constructor(db: Database) {
    measureProcess(this.registry, db);
  }
}

/** For Prometheus. nginx does not forward it. */
@Controller('metrics')
@Probe()
class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Header('Content-Type', METRICS_TYPE)
  get(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}

@Module({ controllers: [HealthController, MetricsController], providers: [Metrics] })
export class HealthModule {}
