import { RequestLog } from '../../../apps/api/src/http/request-log/request-log.js';
import { TestApi } from '../../support/http/api.js';
import { send } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

type Logged = Record<string, unknown> & { method: string; route: string | null; status: number; duration_ms: number };

const settings = { REQUEST_LOG: 'true', RATE_LIMIT_PER_MINUTE: '200' };
const api = await fixture(TestApi.start(settings));
const { make } = api;

async function client(wanted: object = {}, school?: string) {
  school ??= (await make.organization()).id;
  const { id, key } = await api.keys.create(school, { name: 'client', ...wanted });
  return { school, id, key, headers: { Authorization: `Token token=${key}` } };
}

/** The rows of the organization, oldest first, once everything recorded so far is written. */
async function logOf(school: string): Promise<Logged[]> {
  await api.writeRequestLog();
  return make.query<Logged>('SELECT * FROM request_log WHERE organization_id = $1 ORDER BY created_at, id', [school]);
}

const line = ({ method, route, status }: Logged) => `${method} ${route} ${status}`;

describe('the request log', () => {
  it('has a row for each request of a key, even a refused one, without personal data', async () => {
    const { school, id, headers } = await client();
    const { id: student } = await make.student(school);
    const id7 = { ...headers, 'X-Request-Id': 'mine-7' };
    await send(api, 'GET', `/v1/payments?student_id=${student}`, id7);
    await send(api, 'GET', '/v1/students?limit=many', headers);
    await send(api, 'GET', `/v1/parents/${student}`, headers);
    await send(api, 'HEAD', '/v1/ping', headers);
    await send(api, 'POST', `/v1/students/${student}/send-invite`, headers);
    await send(api, 'GET', `/v1/nowhere/${student}`, headers);
    await send(api, 'DELETE', '/v1/ping', headers);
    await send(api, 'GET', '/health/live', headers);
    const rows = await logOf(school);
    expect(rows.map(line)).toEqual([
      'GET /v1/payments 200',
      'GET /v1/students 422',
      'GET /v1/parents/{parent_id} 404',
      'HEAD /v1/ping 200',
      'POST /v1/students/{student_id}/send-invite 403',
      'GET null 404',
      'DELETE null 405',
    ]);
    expect(rows[0]).toMatchObject({ api_key_id: id, organization_id: school, request_id: 'mine-7' });
    expect(rows.every(({ duration_ms }) => duration_ms > 0)).toBe(true);
    expect(JSON.stringify(rows)).not.toContain(student);
    expect(JSON.stringify(rows)).not.toContain('many');
  });

  it('is written without being asked for, and only if it is on', async () => {
    const [logged, unlogged] = [await client(), await client()];
    const [loud, silent] = [await TestApi.start(settings, api.database), await TestApi.start({ REQUEST_LOG: 'false' }, api.database)];
    await send(silent, 'GET', '/v1/ping', unlogged.headers);
    await silent.writeRequestLog();
    await send(loud, 'GET', '/v1/ping', logged.headers);
    const count = async (school: string) => (await make.query('SELECT FROM request_log WHERE organization_id = $1', [school])).length;
    await vi.waitFor(async () => expect(await count(logged.school)).toBe(1), { timeout: 20_000 });
    expect(await count(unlogged.school)).toBe(0);
    await Promise.all([loud.close(), silent.close()]);
  });

  it('has no row for a request without a valid key', async () => {
    const { school, id, headers } = await client();
    const expired = await client({ expiresAt: new Date(0) }, school);
    await send(api, 'GET', '/v1/ping', headers);
    await api.keys.revokeOf(school, id);
    await send(api, 'GET', '/v1/ping', headers);
    await send(api, 'GET', '/v1/nowhere', headers);
    await send(api, 'GET', '/v1/ping', expired.headers);
    await send(api, 'GET', '/v1/ping');
    expect((await logOf(school)).map(line)).toEqual(['GET /v1/ping 200']);
  });

  it('has at least some of the requests over the limit', async () => {
    const { school, headers } = await client();
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const statuses: number[] = [];
    for (let n = 0; n < 340; n++) statuses.push((await send(api, 'GET', '/v1/ping', headers)).status);
    vi.restoreAllMocks();
    expect(statuses.filter((status) => status === 429)).toHaveLength(140);
    const refused = (await logOf(school)).filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(100);
    expect(refused[0]).toMatchObject({ route: '/v1/ping' });
  });

  it('keeps rows while the database refuses them, and stores each once', async () => {
    const { school, headers } = await client();
    await make.query('ALTER TABLE request_log RENAME TO request_log_away');
    try {
      for (let n = 0; n < 3; n++) expect((await send(api, 'GET', '/v1/ping', headers)).status).toBe(200);
      for (let n = 0; n < 3; n++) await api.app.get(RequestLog).flush();
    } finally {
      await make.query('ALTER TABLE request_log_away RENAME TO request_log');
    }
    expect((await logOf(school)).map(line)).toEqual(Array(3).fill('GET /v1/ping 200'));
    expect(await logOf(school)).toHaveLength(3);
    expect(api.logged.filter((text) => text.includes('request_log_not_written'))).toHaveLength(1);
  });

  it('leaves room for others when one key is busy, and counts what it drops', async () => {
    const [busy, quiet] = [await client(), await client()];
    await api.writeRequestLog();
    const before = await dropped();
    note(busy.id, 200, 6_000);
    note(quiet.id, 429, 150);
    note(quiet.id, 200, 1);
    expect(await logOf(busy.school)).toHaveLength(5_000);
    expect(await logOf(quiet.school)).toHaveLength(101);
    expect((await dropped()) - before).toBe(1_050);
  });

  function note(keyId: string, status: number, count: number): void {
    const row = { keyId, status, method: 'GET', route: '/v1/ping', ms: 1, requestId: 'r' };
    for (let n = 0; n < count; n++) api.app.get(RequestLog).note(row);
  }

  async function dropped(): Promise<number> {
    const { text } = await api.get('/metrics');
    return Number(/^request_log_dropped_total (\d+)$/m.exec(text)![1]);
  }

  it('is written when the process stops', async () => {
    const other = await TestApi.start({ REQUEST_LOG: 'true' }, api.database);
    const { school, headers } = await client();
    await send(other, 'GET', '/v1/ping', headers);
    await other.close();
    expect((await logOf(school)).map(line)).toEqual(['GET /v1/ping 200']);
  });
});
