import type { Tables } from '../support/database/tables.js';
import { QUEUES } from '@app/jobs';
import { ScheduleService } from '../../apps/worker/src/publishing/schedule.service.js';
import { fixture } from '../support/process/fixture.js';
import { OutboxFixture } from '../support/worker/worker.js';

const room = await fixture(OutboxFixture.open());

describe('the publishing queue', () => {
  afterEach(async () => {
    await room.clear();
    await room.make.query('TRUNCATE blog_posts, audit_log');
  });

  const in_ = (ms: number) => new Date(Date.now() + ms);
  async function post(scheduledAt: Date | null, wish: Partial<Tables['blog_posts']> = {}): Promise<string> {
    return (await room.make.post(room.organizationId, { scheduledAt, ...wish })).id;
  }
  const find = (id: string) => room.make.find('blog_posts', id);
  const audited = () => room.make.query<{ n: number }>(`SELECT count(*)::int AS n FROM audit_log WHERE api_key_id IS NULL`).then(([row]) => row!.n);

  it('publishes a post once with three workers, which poll at least every five seconds', async () => {
    expect(QUEUES.publishing.everyMs).toBeLessThan(5_000);
    for (let count = 0; count < 3; count++) await (await room.worker()).init();
    const scheduledAt = in_(1_000);
    const id = await post(scheduledAt);
    await vi.waitFor(async () => expect((await find(id)).status).toBe('published'), { interval: 20 });
    const { publishedAt, scheduledAt: cleared, updatedAt, createdAt } = await find(id);
    expect(cleared).toBeNull();
    expect(publishedAt!.getTime()).toBeGreaterThanOrEqual(scheduledAt.getTime());
    expect(updatedAt.getTime()).toBeGreaterThan(createdAt.getTime());
    expect(await room.rows(`topic = 'rebuild'`)).toMatchObject([{ recipient: `organization:${room.organizationId}` }]);
    expect(await audited()).toBe(1);
  });

  it('publishes each due post once with several workers, and requests one rebuild', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => post(in_(-60_000))));
    const workers = await Promise.all([room.worker(), room.worker(), room.worker()]);
    let published = 0;
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(workers.map((worker) => worker.get(ScheduleService).runOnce()));
      published += results.reduce((sum, result) => sum + result.published, 0);
    }
    expect(published).toBe(60);
    expect(await audited()).toBe(60);
    for (const id of ids) expect((await find(id)).status).toBe('published');
    expect(await room.rows(`topic = 'rebuild'`)).toHaveLength(1);
  });

  it('skips posts that are not due, cancelled or being changed', async () => {
    const [later, never] = [await post(in_(60_000)), await post(null)];
    const changing = await post(in_(-1_000));
    const due = await post(in_(-1_000));
    const schedule = (await room.idleWorker()).get(ScheduleService);
    await room.make.db.transaction(async (manager) => {
      await manager.query('SELECT FROM blog_posts WHERE id = $1 FOR UPDATE', [changing]);
      expect(await schedule.runOnce()).toEqual({ published: 1 });
      await manager.query('UPDATE blog_posts SET scheduled_at = NULL WHERE id = $1', [changing]);
    });
    expect(await schedule.runOnce()).toEqual({ published: 0 });
    for (const id of [later, never, changing]) expect((await find(id)).status).toBe('draft');
    expect((await find(due)).status).toBe('published');
  });

  it("publishes the platform's posts and rebuilds their brand", async () => {
    const id = await post(in_(-1_000), { organizationId: null, brand: 'secondary' });
    expect(await (await room.idleWorker()).get(ScheduleService).runOnce()).toEqual({ published: 1 });
    expect((await find(id)).status).toBe('published');
    expect(await room.rows()).toMatchObject([{ recipient: 'brand:secondary' }]);
    expect(await audited()).toBe(0);
    expect(room.logged.join('')).toContain('scheduled posts published');
  });

  it('publishes the other posts when one cannot be published', async () => {
    const broken = await post(in_(-5_000));
    const well = await post(in_(-1_000));
    await room.make.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'planted'; END $$`);
    await room.make.query(`CREATE TRIGGER refuse BEFORE UPDATE ON blog_posts FOR EACH ROW WHEN (old.id = '${broken}')
      EXECUTE FUNCTION refuse()`);
    try {
      expect(await (await room.idleWorker()).get(ScheduleService).runOnce()).toEqual({ published: 1 });
      expect((await find(well)).status).toBe('published');
      expect(room.logged.join('')).toContain('post_not_published');
    } finally {
      await room.make.query('DROP TRIGGER refuse ON blog_posts; DROP FUNCTION refuse');
    }
  });
});
