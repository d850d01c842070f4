import { v7 as uuidv7 } from 'uuid';
import { RebuildsService } from '../../apps/worker/src/rebuilds/rebuilds.service.js';
import { RebuildCourier } from '../../apps/worker/src/rebuilds/rebuild.courier.js';
import { OutboxStore } from '../../apps/worker/src/outbox/outbox.store.js';
import { TRIES } from '../../apps/worker/src/outbox/schedule.js';
import { TestHook } from '../support/worker/hook.js';
import { Mailroom } from '../support/worker/worker.js';

describe('the rebuilds queue', () => {
  let hook: TestHook;
  let room: Mailroom;

  beforeAll(async () => {
    room = await Mailroom.open();
    hook = await TestHook.start();
  });
  beforeEach(() => room.setHook(hook.url, hook.secret));
  afterEach(async () => {
    await room.clear();
    hook.calls.length = 0;
    hook.answer = () => ({ status: 202 });
  });
  afterAll(async () => {
    await room.stop();
    await hook.stop();
  });

  const drain = async () => (await room.worker()).get(RebuildsService).runOnce();

  it('calls the hook once, signed, for several changes within seconds', async () => {
    for (let change = 0; change < 4; change++) await room.rebuild();
    expect(await drain()).toEqual({});
    await room.pass('3 seconds');
    expect(await drain()).toEqual({ sent: 1 });
    expect(hook.calls).toHaveLength(1);
    const [call] = hook.calls;
    const [row] = await room.rows();
    expect(hook.signed(call!)).toBe(true);
    expect(hook.signed({ ...call!, body: `${call!.body} ` })).toBe(false);
    expect(JSON.parse(call!.body)).toEqual({
      event: 'rebuild',
      target: `organization:${room.organizationId}`,
      id: row!.id,
      occurred_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect(call!.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(Math.abs(Number(call!.headers['x-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    // A change afterwards is another rebuild.
    await room.rebuild();
    await room.pass('3 seconds');
    expect(await drain()).toEqual({ sent: 1 });
    expect(hook.calls).toHaveLength(2);
  });

  it('does not let a change join a rebuild that is being dispatched', async () => {
    await room.rebuild();
    await room.pass('3 seconds');
    const store = (await room.worker()).get(OutboxStore);
    const claimed = await store.claim('rebuild', 20_000);
    await room.rebuild();
    await store.finish(claimed!, 'sent', null, null);
    expect(await room.tally()).toEqual({ sent: 1, queued: 1 });
  });

  it('does not take a rebuild whose change is not committed yet', async () => {
    await room.rebuild();
    await room.pass('3 seconds');
    await room.db.transaction({ organizationId: room.organizationId }, async () => {
      await room.outbox.addRebuild(room.organizationId, `organization:${room.organizationId}`);
      expect(await drain()).toEqual({});
    });
    expect(await drain()).toEqual({ sent: 1 });
    expect(hook.calls).toHaveLength(1);
  });

  it('tries again with the same id when the hook refuses, redirects or is not there, and gives up after eight', async () => {
    const elsewhere = await TestHook.start();
    const { url: elsewhereUrl } = elsewhere;
    hook.answer = (index) =>
      index === 0
        ? { status: 500 }
        : index === 1
          ? { status: 307, headers: { location: elsewhereUrl } }
          : { status: 404 };
    await room.rebuild();
    const problems: (string | null)[] = [];
    let redirected = 0;
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      await room.pass('3 hours');
      if (attempt === TRIES) await room.setHook(elsewhereUrl, hook.secret);
      if (attempt === TRIES) {
        redirected = elsewhere.calls.length;
        await elsewhere.stop();
      }
      expect(await drain()).toEqual(attempt < TRIES ? { failed: 1 } : { dead: 1 });
      problems.push((await room.rows())[0]!.last_error);
    }
    expect(problems.slice(0, 3)).toEqual(['http_500', 'http_307', 'http_404']);
    expect(problems.at(-1)).toBe('connection_refused');
    expect(redirected).toBe(0);
    expect(new Set(hook.calls.map(({ body }) => body)).size).toBe(1);
    expect(hook.calls.every((call) => hook.signed(call))).toBe(true);
    // Replayed by the operator.
    hook.answer = () => ({ status: 200 });
    await room.setHook(hook.url, hook.secret);
    await room.make.query('SELECT retry_outbox(id) FROM outbox');
    expect(await drain()).toEqual({ sent: 1 });
  });

  it('does not wait for a hook that does not answer', async () => {
    hook.answer = () => null;
    await room.rebuild();
    await room.pass('3 seconds');
    const worker = await room.worker();
    const message = await worker.get(OutboxStore).claim('rebuild', 20_000);
    const outcome = await worker.get(RebuildCourier).deliver(message!, AbortSignal.timeout(200));
    expect(outcome).toEqual({ status: 'failed', problem: 'timeout' });
  });

  it('is done when nobody set a hook, and asks each target of its own', async () => {
    const brand = await TestHook.start('of the brand');
    await room.make.query(`INSERT INTO rebuild_hooks (target, url, secret) VALUES ('brand:primary', $1, $2)`, [
      brand.url,
      room.vault.seal('hook secrets', brand.secret),
    ]);
    await room.db.transaction({ organizationId: uuidv7(), platformBlog: true }, async () => {
      await room.outbox.addRebuild(null, 'brand:primary');
      await room.outbox.addRebuild(null, 'brand:secondary');
    });
    await room.rebuild();
    await room.pass('3 seconds');
    expect(await drain()).toEqual({ sent: 3 });
    expect(hook.calls).toHaveLength(1);
    expect(brand.calls).toHaveLength(1);
    expect(brand.signed(brand.calls[0]!)).toBe(true);
    expect(JSON.parse(brand.calls[0]!.body)).toMatchObject({ target: 'brand:primary' });
    expect((await room.rows(`recipient = 'brand:secondary'`))[0]!.last_error).toBe('no_hook');
    await brand.stop();
  });

  it('comes by itself within seconds of the change', async () => {
    await (await room.worker()).init();
    await room.rebuild();
    await vi.waitFor(() => expect(hook.calls).toHaveLength(1));
  });
});
