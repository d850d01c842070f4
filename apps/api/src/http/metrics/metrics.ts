import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Database } from '@app/database';

/** What `/metrics` tells. Labels are route templates and codes: nothing that a client chooses. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  readonly authentications = new Counter({
    name: 'api_key_authentications_total',
    help: 'Outcomes of API key authentication',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly rateLimitFallbacks = new Counter({
    name: 'rate_limit_fallbacks_total',
    help: 'Requests counted by this process alone because Redis did not answer',
    registers: [this.registry],
  });

  constructor(db: Database) {
    collectDefaultMetrics({ register: this.registry });
    const pool = (name: 'total' | 'idle' | 'waiting', help: string) =>
      new Gauge({
        name: `database_pool_${name}`,
        help,
        registers: [this.registry],
        collect() {
          this.set(db.poolState[name]);
        },
      });
    pool('total', 'Connections to PostgreSQL');
    pool('idle', 'Connections that wait for work');
    pool('waiting', 'Requests that wait for a connection');
  }
}
