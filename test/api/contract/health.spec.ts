import { WORKER_SILENCE_MS } from '@app/jobs';
import { TestApi } from '../../support/http/api.js';
import { call, keyedReads, nameOf, send } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);

const beat = (worker: string, millisecondsAgo: number) =>
  fixtures.make.query(
    `INSERT INTO worker_heartbeats (worker_id, seen_at) VALUES ($1, now() - $2 * interval '1 millisecond')
     ON CONFLICT (worker_id) DO UPDATE SET seen_at = excluded.seen_at`,
    [worker, millisecondsAgo],
  );

describe('/health/live', () => {
  it('returns 200 in any state of the database', async () => {
    // Some load balancers add parameters.
    for (const path of ['/health/live', '/health/live?from=probe']) {
      const answer = await api.get(path);
      expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }]);
      expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    }
  });
});

describe('/health/ready', () => {
  const checks = { database: 'up', migrations: 'up', redis: 'off' };

  it('is degraded without a live worker and ok with one', async () => {
    const becomes = async (status: string, worker: string) => {
      await vi.waitFor(async () => {
        const answer = await send(api, 'GET', '/health/ready');
        expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { status, checks: { ...checks, worker } }]);
      });
    };
    await becomes('degraded', 'away');
    await beat('silent', WORKER_SILENCE_MS + 1000);
    await beat('alive', 1000);
    await becomes('ok', 'up');
    await beat('alive', WORKER_SILENCE_MS + 1000);
    await becomes('degraded', 'away');
  });

  it('returns 503 while migrations are pending, and names them', async () => {
    const [taken] = await fixtures.make.query<{ id: number; name: string; timestamp: string }>('SELECT * FROM migrations ORDER BY id DESC LIMIT 1');
    await fixtures.make.query('DELETE FROM migrations WHERE id = $1', [taken!.id]);
    const other = await TestApi.start({}, api.database);
    const answer = await other.get('/health/ready');
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(answer.body).toMatchObject({ error: { code: 'service_unavailable', status: 503, details: { pending: [taken!.name] } } });
    await fixtures.make.query('INSERT INTO migrations (name, timestamp) VALUES ($1, $2)', [taken!.name, taken!.timestamp]);
    await vi.waitFor(async () => expect((await other.get('/health/ready')).status).toBe(200));
    await other.close();
  });
});

describe('/metrics', () => {
  it('counts by route template, method and status, without ids or personal data', async () => {
    for (const route of keyedReads(api)) await call(api, route, fixtures.a);
    await send(api, 'GET', '/v1/parents/not-an-id', { Authorization: `Token token=${fixtures.a.key}` });
    await send(api, 'GET', '/v1/nowhere-special');
    await send(api, 'GET', '/v1/ping', { Authorization: 'Token token=a-wrong-secret' });
    const { status, headers, text } = await send(api, 'GET', '/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    for (const route of keyedReads(api)) {
      const line = `http_request_duration_seconds_count{method="GET",route="${route.path}",status="200"}`;
      expect([nameOf(route), text.includes(line)]).toEqual([nameOf(route), true]);
    }
    expect(text).toContain('route="/v1/parents/:parent_id",status="404"');
    expect(text).toContain('route="none",status="404"');
    expect(text).toContain('api_key_authentications_total{outcome="invalid_api_key"} 1');
    expect(text).toMatch(/database_pool_total \d/);
    for (const name of ['waiting', 'oldest_seconds', 'dead']) expect(text).toContain(`outbox_${name}{topic="email"} 0`);
    await fixtures.make.query(`INSERT INTO worker_heartbeats (worker_id, seen_at, failed_claims, bytes, sampled_at)
      VALUES ('able', now(), 2, '{"x": 5}', now()), ('unable', now() - interval '1 minute', 7, '{"x": 4, "y": 3}', now() - interval '1 hour')`);
    await vi.waitFor(async () => {
      const metrics = (await send(api, 'GET', '/metrics')).text;
      expect(metrics).toContain('outbox_workers 1');
      expect(metrics).toContain('outbox_failed_claims_total{worker="able"} 2');
      expect(metrics).toContain('outbox_failed_claims_total{worker="unable"} 7');
      expect(metrics).toContain('organization_bytes{organization="x"} 5');
      expect(metrics).not.toContain('organization="y"');
    });
    const ids = [...fixtures.a.ids, ...fixtures.b.ids, fixtures.a.id, fixtures.a.key, 'not-an-id', 'nowhere-special', 'wrong-secret'];
    expect(ids.filter((id) => text.includes(id))).toEqual([]);
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  });
});
