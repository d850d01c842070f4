import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { measureProcess, METRICS_TYPE } from '@app/serving';
import { OutboxStore } from './outbox/outbox.store.js';

/** `/metrics` on METRICS_PORT, if it is set: the worker has no other address. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly env: Env,
    private readonly db: Database,
    private readonly outbox: OutboxStore,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const port = this.env.get('METRICS_PORT');
    if (port === null) return;
    const registry = new Registry();
    measureProcess(registry, this.db);
    const { outbox } = this;
    new Counter({
      name: 'worker_failed_claims_total',
      help: 'Claims of a mail or rebuild that failed, since this worker started',
      registers: [registry],
      collect() {
        this.reset();
        this.inc(outbox.failedClaims);
      },
    });
    const server = createServer((request, response) => {
      if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
      void registry.metrics().then((text) => response.writeHead(200, { 'Content-Type': METRICS_TYPE }).end(text));
    });
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, this.env.get('HOST') ?? '0.0.0.0', resolve);
    });
  }

  /** The port that it listens on, if it does. */
  get port(): number | null {
    return (this.server?.address() as AddressInfo | null | undefined)?.port ?? null;
  }

  onApplicationShutdown(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }
}
