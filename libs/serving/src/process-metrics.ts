import { collectDefaultMetrics, Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** How many connections a process has, and how many requests wait for one. */
interface Pool {
  poolState: Record<'total' | 'idle' | 'waiting', number>;
  /** Of replicas; null without any. */
  readsSoFar: Readonly<Record<'replica' | 'behind' | 'failed', number>> | null;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The metrics that API, worker and portal have alike: of Node, and of their connections to PostgreSQL. */
export function measureProcess(registry: Registry, pool: Pool): void {
  collectDefaultMetrics({ register: registry });
  const gauge = (name: keyof Pool['poolState'], help: string) =>
    new Gauge({
      name: `database_pool_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(pool.poolState[name]);
      },
    });
  gauge('total', 'Connections to PostgreSQL');
  gauge('idle', 'Idle connections');
  gauge('waiting', 'Requests waiting for a connection');
  new Counter({
    name: 'database_replica_reads_total',
    help: 'Reads that a replica answered, and those that went to the primary because none was near enough or one failed',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, reads] of Object.entries(pool.readsSoFar ?? {})) this.inc({ outcome }, reads);
    },
  });
}

/** The duration of requests, by route template. */
export function requestDurations(registry: Registry): Histogram {
  return new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
}
