import { Process, Processor } from '@nestjs/bull';
import type { INestApplicationContext, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import pg from 'pg';
import { loadEnv } from '@app/config';
import { QUEUES, WORKER_SILENCE_MS } from '@app/jobs';
import { WorkerModule } from '../../apps/worker/src/worker.module.js';
import { MetricsServer } from '../../apps/worker/src/metrics-server.js';
import { Processors } from '../../apps/worker/src/drivers/processors.js';
import { createTestDatabase, type TestDatabase } from '../support/database/database.js';
import { TestRedis } from '../support/worker/redis.js';

@Processor('housekeeping')
class SecondProcessor {
  @Process('round')
  round(): void {
    return;
  }
}

@Processor('forgotten')
class StrayProcessor {
  @Process('anything')
  anything(): void {
    return;
  }
}

describe('the worker', () => {
  let database: TestDatabase;
  let admin: pg.Client;
  const started: INestApplicationContext[] = [];

  const compile = async (settings: Record<string, string> = {}, ...more: Type[]) => {
    const env = loadEnv(
      { NODE_ENV: 'test', WORKER_DATABASE_URL: database.workerUrl, ENCRYPTION_KEY: '00'.repeat(32), LOG_LEVEL: 'silent', ...settings },
      {},
    );
    const module = await Test.createTestingModule({ imports: [WorkerModule.forRoot(env)], providers: more }).compile();
    started.push(module);
    return module;
  };
  const heartbeats = async () => (await admin.query<{ seen_at: Date }>('SELECT seen_at FROM worker_heartbeats')).rows;

  beforeEach(async () => {
    database = await createTestDatabase();
    admin = new pg.Client({ connectionString: database.adminUrl });
    await admin.connect();
  });
  afterEach(async () => {
    for (const module of started.splice(0)) await module.close();
    await admin.end();
    await database.drop();
  });

  it('serves its metrics where METRICS_PORT says, and else opens no port', async () => {
    const [silent, scraped] = [await compile(), await compile({ METRICS_PORT: '0', HOST: '127.0.0.1' })];
    for (const worker of [silent, scraped]) await worker.init();
    expect(silent.get(MetricsServer).port).toBeNull();
    const base = `http://127.0.0.1:${scraped.get(MetricsServer).port}`;
    const metrics = await (await fetch(`${base}/metrics`)).text();
    for (const name of ['worker_failed_claims_total 0', 'database_pool_total', 'process_cpu_seconds_total']) expect(metrics).toContain(name);
    expect((await fetch(`${base}/`)).status).toBe(404);
  });

  it('runs its recurring jobs through Bull with Redis, shared by two workers', async () => {
    const redis = await TestRedis.start();
    try {
      const workers = await Promise.all([compile({ REDIS_URL: redis.url }), compile({ REDIS_URL: redis.url })]);
      for (const worker of workers) await worker.init();
      await vi.waitFor(async () => expect(await heartbeats()).not.toEqual([]), { interval: 100 });
      for (const module of started.splice(0)) await module.close();
    } finally {
      await redis.stop();
    }
  });

  it('finishes a running job before it ends', async () => {
    const worker = await compile();
    await admin.query('BEGIN; LOCK TABLE worker_heartbeats IN EXCLUSIVE MODE');
    await worker.init();
    // Housekeeping may wait for the table too.
    const beats = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query LIKE '%INSERT INTO worker_heartbeats%'`;
    await vi.waitFor(async () => {
      // Within a transaction, PostgreSQL answers what it saw first.
      await admin.query('SELECT pg_stat_clear_snapshot()');
      expect((await admin.query(beats)).rowCount).toBe(1);
    });
    const closed = worker.close();
    await admin.query('COMMIT');
    await closed;
    started.length = 0;
    expect(await heartbeats()).toHaveLength(1);
  });

  it('does not start if a queue has two processors, or a processor has no queue', async () => {
    const worker = await compile({}, SecondProcessor, StrayProcessor);
    await expect(worker.init()).rejects.toThrow(
      /queue "housekeeping" must have one processor, but has 2.*StrayProcessor processes a queue "forgotten" that nothing fills/,
    );
  });

  it('does not start without the encryption key of the outbox', async () => {
    await expect(compile({ ENCRYPTION_KEY: '' })).rejects.toThrow('ENCRYPTION_KEY is not set');
  });

  it('finds the handler of every recurring job by its decorators', async () => {
    const worker = await compile();
    const handlers = worker.get(Processors).handlers();
    expect(handlers.map(({ queue, job }) => [queue, job]).sort()).toEqual(
      Object.entries(QUEUES)
        .map(([queue, { job }]) => [queue, job])
        .sort(),
    );
  });

  it('has no heartbeat while its claims fail, which are counted, and one as soon as they succeed', async () => {
    const state = async () =>
      (
        await admin.query<{ fresh: boolean; failed: number }>(
          `SELECT seen_at > now() - $1 * interval '1 millisecond' AS fresh, failed_claims::integer AS failed FROM worker_heartbeats`,
          [WORKER_SILENCE_MS],
        )
      ).rows[0];
    const role = decodeURIComponent(new URL(database.workerUrl).username);
    await admin.query(`REVOKE EXECUTE ON FUNCTION claim_outbox, claim_webhook FROM ${role}`);
    await (await compile()).init();
    await vi.waitFor(async () => expect((await state())?.failed).toBeGreaterThan(1), { interval: 100 });
    expect(await state()).toMatchObject({ fresh: false });
    await admin.query(`GRANT EXECUTE ON FUNCTION claim_outbox, claim_webhook TO ${role}`);
    await vi.waitFor(async () => expect(await state()).toMatchObject({ fresh: true }), { interval: 100 });
  });

  it('runs its recurring jobs by a timer without Redis, and forgets workers that stopped long ago', async () => {
    await admin.query(`INSERT INTO worker_heartbeats VALUES ('gone', now() - interval '2 days')`);
    await (await compile()).init();
    const known = async () => (await admin.query<{ worker_id: string }>('SELECT worker_id FROM worker_heartbeats')).rows;
    await vi.waitFor(async () => {
      expect((await known()).map(({ worker_id }) => worker_id)).not.toContain('gone');
    });
    expect(await known()).toHaveLength(1);
  });
});
