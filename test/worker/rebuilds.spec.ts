import { v7 as uuidv7 } from 'uuid';
import { BuildHooks, siteOf } from '@app/publishing';
import { RebuildsService } from '../../apps/worker/src/rebuilds/rebuilds.service.js';
import { isPublic } from '@app/webhooks';
import { RebuildCourier } from '../../apps/worker/src/rebuilds/rebuild.courier.js';
import { OutboxStore } from '../../apps/worker/src/outbox/outbox.store.js';
import { TRIES } from '../../apps/worker/src/outbox/schedule.js';
import { fixture } from '../support/process/fixture.js';
import { TestHook } from '../support/worker/hook.js';
import { OutboxFixture } from '../support/worker/worker.js';

const hook = await fixture(TestHook.start());
const room = await fixture(OutboxFixture.open());

describe('the rebuilds queue', () => {
  beforeEach(() => room.setHook(hook.url, hook.secret));
  afterEach(async () => {
    await room.clear();
    hook.calls.length = 0;
    hook.answer = () => ({ status: 202 });
  });

  const drain = async () => (await room.idleWorker()).get(RebuildsService).runOnce();

  it('calls the hook once, signed, for several changes within seconds', async () => {
    // Starts beforehand, because that may take longer than the pause before a rebuild.
    const worker = (await room.idleWorker()).get(RebuildsService);
    for (let change = 0; change < 4; change++) await room.rebuild();
    expect(await worker.runOnce()).toEqual({});
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
    // A later change is another rebuild.
    await room.rebuild();
    await room.pass('3 seconds');
    expect(await drain()).toEqual({ sent: 1 });
    expect(hook.calls).toHaveLength(2);
  });

  it('does not let a change join a rebuild that is being dispatched', async () => {
    await room.rebuild();
    await room.pass('3 seconds');
    const store = (await room.idleWorker()).get(OutboxStore);
    const claimed = await store.claim('rebuild', 10, 20_000);
    await room.rebuild();
    await store.finish(claimed!, 'sent', null, null);
    expect(await room.tally()).toEqual({ sent: 1, queued: 1 });
  });

  it('does not dispatch a rebuild whose change is not committed yet', async () => {
    await room.rebuild();
    await room.pass('3 seconds');
    await room.db.transaction({ organizationId: room.organizationId }, async () => {
      await room.outbox.addRebuild(room.organizationId, `organization:${room.organizationId}`);
      expect(await drain()).toEqual({});
    });
    expect(await drain()).toEqual({ sent: 1 });
    expect(hook.calls).toHaveLength(1);
  });

  it('retries with the same id if the hook fails, redirects or is unreachable, and gives up after eight attempts', async () => {
    const elsewhere = await TestHook.start();
    const { url: elsewhereUrl } = elsewhere;
    hook.answer = (index) => (index === 0 ? { status: 500 } : index === 1 ? { status: 307, headers: { location: elsewhereUrl } } : { status: 404 });
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
    // The operator retries it.
    hook.answer = () => ({ status: 200 });
    await room.setHook(hook.url, hook.secret);
    await room.make.query('SELECT retry_outbox(id) FROM outbox');
    expect(await drain()).toEqual({ sent: 1 });
  });

  it('signs with both secrets while one is being replaced, and with the new one afterwards', async () => {
    const [former, current] = ['the former secret of the hook', hook.secret];
    await room.setHook(hook.url, former);
    const hooks = new BuildHooks(room.db, room.vault);
    const site = siteOf(room.organizationId);
    const call = async () => {
      await room.rebuild();
      await room.pass('3 seconds');
      expect(await drain()).toEqual({ sent: 1 });
      return hook.calls.at(-1)!;
    };
    const replaced = (await room.db.transaction(site.tenant, () => hooks.rotate(site)))!;
    const both = await call();
    expect(hook.signed(both, replaced)).toBe(true);
    expect(hook.signed(both, former, 'x-signature-previous')).toBe(true);
    expect(hook.signed(both, current)).toBe(false);
    // A second replacement drops the oldest secret.
    const again = (await room.db.transaction(site.tenant, () => hooks.rotate(site)))!;
    const later = await call();
    expect([hook.signed(later, again), hook.signed(later, replaced, 'x-signature-previous')]).toEqual([true, true]);
    await room.make.query(`UPDATE rebuild_hooks SET previous_until = now() - interval '1 second'`);
    expect((await call()).headers['x-signature-previous']).toBeUndefined();
    await room.make.query('SELECT forget_previous_secrets()');
    expect(await room.make.query('SELECT previous_secret, previous_until FROM rebuild_hooks')).toEqual([
      { previous_secret: null, previous_until: null },
    ]);
  });

  it('does not merge a rebuild into a queued test, and tries a test only once', async () => {
    const hooks = new BuildHooks(room.db, room.vault);
    const site = siteOf(room.organizationId);
    expect(await room.db.transaction(site.tenant, () => hooks.test(site))).toBe(true);
    expect(await room.db.transaction(site.tenant, () => hooks.test(site))).toBe(false);
    const worker = (await room.worker()).get(RebuildsService);
    hook.answer = (index) => ({ status: index === 0 ? 500 : 202 });
    await room.rebuild();
    expect(await worker.runOnce()).toEqual({ dead: 1 });
    await room.pass('3 seconds');
    expect(await drain()).toEqual({ sent: 1 });
    expect(hook.calls.map(({ body }) => (JSON.parse(body) as { event: string }).event).sort()).toEqual(['rebuild', 'test']);
  });

  it('calls hooks of organizations only at public addresses, and those of the operator anywhere', async () => {
    const courier = (await room.worker({ NODE_ENV: 'production' })).get(RebuildCourier);
    const store = (await room.idleWorker()).get(OutboxStore);
    const attempt = async () => {
      await room.rebuild();
      await room.pass('3 seconds');
      const claimed = (await store.claim('rebuild', 10, 20_000))!;
      const outcome = await courier.deliver(claimed, AbortSignal.timeout(5_000));
      await store.finish(claimed, 'sent', null, null);
      return outcome;
    };
    const refused = { status: 'failed', problem: 'address_not_public' };
    const { port } = new URL(hook.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '10.0.0.1', '169.254.169.254', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      await room.setHook(`http://${host}:${port}/build`, hook.secret);
      expect([host, await attempt()]).toEqual([host, refused]);
    }
    expect(hook.calls).toHaveLength(0);
    await room.setHook(hook.url, hook.secret);
    await room.make.query('UPDATE rebuild_hooks SET trusted = true');
    expect(await attempt()).toEqual({ status: 'sent' });
  });

  it.each([
    ['1.1.1.1', true], ['8.8.8.8', true], ['2606:4700::1111', true], ['0.0.0.0', false], ['100.64.0.1', false], ['172.16.0.1', false],
    ['172.32.0.1', true], ['168.63.129.16', false], ['192.168.1.1', false], ['224.0.0.1', false], ['255.255.255.255', false], ['::', false], ['::1', false],
    ['::ffff:8.8.8.8', false], ['fd00::1', false], ['fe80::1', false], ['64:ff9b::a00:1', false], ['2002:7f00:1::', false],
    ['2001:db8::1', false], ['ff02::1', false], ['not an address', false],
  ])('classifies %s as a public address: %s', (address, expected) => {
    expect(isPublic(address)).toBe(expected);
  }); // prettier-ignore

  it('times out if a hook does not answer', async () => {
    hook.answer = () => null;
    await room.rebuild();
    await room.pass('3 seconds');
    const worker = await room.worker();
    const message = await worker.get(OutboxStore).claim('rebuild', 10, 20_000);
    const outcome = await worker.get(RebuildCourier).deliver(message!, AbortSignal.timeout(200));
    expect(outcome).toEqual({ status: 'failed', problem: 'timeout' });
  });

  it("completes without a hook, and calls each target's own hook", async () => {
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

  it('calls a hook that hangs once at a time, and others meanwhile', async () => {
    const hanging = await TestHook.start();
    hanging.answer = () => null;
    const { id: other } = await room.make.organization();
    await room.setHook(hanging.url, hanging.secret, other);
    await room.rebuild(other);
    // A change joins a rebuild that waits, unless somebody has tried it.
    await room.make.query(`UPDATE outbox SET attempts = 1`);
    await room.rebuild(other);
    await room.pass('3 seconds');
    const draining = drain();
    await vi.waitFor(() => expect(hanging.calls).toHaveLength(1));
    await room.rebuild();
    await room.pass('3 seconds');
    await vi.waitFor(() => expect(hook.calls).toHaveLength(1));
    expect(hanging.calls).toHaveLength(1);
    // The next call follows when the first one has failed.
    hanging.drop();
    await vi.waitFor(() => expect(hanging.calls).toHaveLength(2));
    await hanging.stop();
    expect(await draining).toEqual({ sent: 1, failed: 2 });
  });
});
