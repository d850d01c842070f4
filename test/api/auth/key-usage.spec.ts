import { ApiKeys } from '@app/access';
import { Log } from '@app/logging';
import { KeyUsage } from '../../../apps/api/src/http/auth/key-usage.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const usage = api.app.get(KeyUsage);
/** The timer does this every few seconds; the tests call it themselves. */
const flush = usage.flush.bind(usage);
vi.spyOn(usage, 'flush').mockResolvedValue(undefined);

/** xmin changes with every write of the row. */
async function stored(id: string): Promise<{ last_used_at: Date | null; xmin: string; minute: Date }> {
  const [row] = await make.query<{ last_used_at: Date | null; xmin: string; minute: Date }>(
    `SELECT last_used_at, xmin::text, date_trunc('minute', now()) AS minute FROM api_keys WHERE id = $1`,
    [id],
  );
  return row!;
}

async function use(key: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) expect((await api.get('/v1/ping', key)).status).toBe(200);
}

describe('last_used_at', () => {
  it('is kept to the minute, and written once per minute outside the requests', async () => {
    const { id: school } = await make.organization();
    // Repeats if a minute ends midway.
    for (let attempt = 0; ; attempt++) {
      const { id, key } = await api.keys.create(school, { name: 'used' });
      const unused = await stored(id);
      expect(unused.last_used_at).toBeNull();
      const written = vi.spyOn(api.app.get(ApiKeys), 'markUsed');
      await use(key, 5);
      await flush();
      const first = await stored(id);
      await use(key, 5);
      await flush();
      const second = await stored(id);
      const writes = written.mock.calls.filter(([, ids]) => ids.includes(id)).length;
      written.mockRestore();
      if (second.minute.getTime() !== unused.minute.getTime() && attempt < 3) continue;
      expect(first.last_used_at).toEqual(unused.minute);
      expect(second).toEqual(first);
      expect(writes).toBe(1);
      return;
    }
  });

  it('is written every five seconds, and for the last time when the process ends', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const timed = new KeyUsage(api.app.get(ApiKeys), api.app.get(Log));
    const flushes = vi.spyOn(timed, 'flush').mockResolvedValue(undefined);
    timed.onModuleInit();
    vi.advanceTimersByTime(10_000);
    expect(flushes).toHaveBeenCalledTimes(2);
    await timed.onApplicationShutdown();
    vi.advanceTimersByTime(10_000);
    vi.useRealTimers();
    expect(flushes).toHaveBeenCalledTimes(3);
  });

  it('is not written for a refused request', async () => {
    const { id: school } = await make.organization();
    const { id, key } = await api.keys.create(school, { name: 'old', expiresAt: new Date(0) });
    expect((await api.get('/v1/ping', key)).status).toBe(401);
    await flush();
    expect((await stored(id)).last_used_at).toBeNull();
  });

  it('is written again in a later minute', async () => {
    const { id: school } = await make.organization();
    const { id, key } = await api.keys.create(school, { name: 'used' });
    await make.query(`UPDATE api_keys SET last_used_at = now() - interval '1 hour' WHERE id = $1`, [id]);
    await use(key, 1);
    await flush();
    const { last_used_at, minute } = await stored(id);
    expect(minute.getTime() - last_used_at!.getTime()).toBeLessThanOrEqual(60_000);
    expect(last_used_at!.getTime() % 60_000).toBe(0);
  });

  it('logs a failed write and does not fail requests', async () => {
    const { id: school } = await make.organization();
    const { key } = await api.keys.create(school, { name: 'used' });
    await use(key, 1);
    const failing = vi.spyOn(api.app.get(ApiKeys), 'markUsed').mockRejectedValue(new Error('no space'));
    await flush();
    failing.mockRestore();
    expect(api.logged.join('')).toContain('key_usage_not_written');
    await use(key, 1);
  });
});
