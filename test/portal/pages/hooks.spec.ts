import { randomBytes } from 'node:crypto';
import { RebuildsService } from '../../../apps/worker/src/rebuilds/rebuilds.service.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { TestHook } from '../../support/worker/hook.js';
import { OutboxFixture } from '../../support/worker/worker.js';
import { fixture } from '../../support/process/fixture.js';

const ENCRYPTION_KEY = randomBytes(32).toString('hex');

const room = await fixture(OutboxFixture.open({ ENCRYPTION_KEY }));
const portal = await fixture(TestPortal.start({ ENCRYPTION_KEY }, room.database));
const site = await fixture(TestHook.start());

const pathOf = ({ organization }: Someone) => `/o/${organization.slug}/build-hook`;
const look = async (someone: Someone) => (await portal.get(pathOf(someone), someone.cookie).expect(200)).text;
const add = (someone: Someone, url = site.url) => portal.post(`${pathOf(someone)}/add`, { url }, someone.cookie);
const secretIn = (html: string) => /id="secret"[^>]*value="([0-9a-f]{64})"/.exec(html)?.[1];
const drain = async () => (await room.idleWorker()).get(RebuildsService).runOnce();

const hookOf = async ({ organization }: Someone) =>
  (
    await portal.make.query<{ url: string; secret: Buffer; previous_secret: Buffer | null; trusted: boolean }>(
      'SELECT url, secret, previous_secret, trusted FROM rebuild_hooks WHERE organization_id = $1',
      [organization.id],
    )
  )[0];

const auditOf = ({ organization }: Someone) => portal.audited(organization.id);

describe('Build hook', () => {
  it('is added once: only that page shows the secret, and no page shows the path', async () => {
    const someone = await portal.someone('admin');
    expect(await look(someone)).toContain('No calls yet');
    const secret = secretIn((await add(someone).expect(200)).text)!;
    const stored = (await hookOf(someone))!;
    expect(room.vault.open('hook secrets', stored.secret)).toBe(secret);
    expect(stored).toMatchObject({ url: site.url, trusted: false });
    const html = await look(someone);
    expect(html).not.toContain(secret);
    expect(html).not.toContain('/build<');
    expect(html).toContain(new URL(site.url).origin);
    // Sending the form again changes nothing.
    const again = await add(someone, 'https://other.example/').expect(422);
    expect(again.text).toContain('There is already a build hook');
    expect((await hookOf(someone))!.url).toBe(site.url);
    expect(await auditOf(someone)).toEqual([{ operation: 'add_build_hook', by: someone.user.id, details: {} }]);
    expect(JSON.stringify(portal.logged)).not.toContain(secret);
  });

  it.each(['', 'x', 'ftp://x.example', 'javascript:alert(1)', 'https://user:never@x.example/', `https://x.example/${'a'.repeat(2_000)}`])(
    'refuses the address %j',
    async (url) => {
      const someone = await portal.someone('owner');
      const { text } = await add(someone, url).expect(422);
      expect(text).toContain('aria-invalid="true"');
      expect(await hookOf(someone)).toBeUndefined();
    },
  );

  it('can be tested: the call is signed, is not a rebuild, and its result is shown', async () => {
    const someone = await portal.someone('owner');
    const secret = secretIn((await add(someone)).text)!;
    const test = () => portal.post(`${pathOf(someone)}/test`, {}, someone.cookie).expect(303);
    await test();
    await test();
    site.calls.length = 0;
    expect(await drain()).toEqual({ sent: 1 });
    expect(site.signed(site.calls[0]!, secret)).toBe(true);
    expect(JSON.parse(site.calls[0]!.body)).toMatchObject({
      event: 'test',
      target: `organization:${someone.organization.id}`,
    });
    expect(await look(someone)).toMatch(/<strong>Test<\/strong> <span class="chip good">Delivered/);
    await portal.make.query(`UPDATE outbox SET created_at = now() - interval '1 minute'`);
    site.answer = () => ({ status: 500 });
    await test();
    expect(await drain()).toEqual({ dead: 1 });
    site.answer = () => ({ status: 202 });
    const html = await look(someone);
    expect(html).toContain('http_500');
    expect(html).toContain('Given up');
  });

  it('gets a new secret beside the old one, once per form', async () => {
    const someone = await portal.someone('owner');
    const first = secretIn((await add(someone)).text)!;
    const { text } = await portal.get(`${pathOf(someone)}/rotate`, someone.cookie).expect(200);
    const version = /name="version" value="([^"]+)"/.exec(text)![1]!;
    const send = () => portal.post(`${pathOf(someone)}/rotate`, { version }, someone.cookie);
    const second = secretIn((await send().expect(200)).text)!;
    expect(second).not.toBe(first);
    await send().expect(303);
    await portal.post(`${pathOf(someone)}/rotate`, {}, someone.cookie).expect(303);
    const stored = (await hookOf(someone))!;
    expect(room.vault.open('hook secrets', stored.secret)).toBe(second);
    expect(room.vault.open('hook secrets', stored.previous_secret!)).toBe(first);
    expect(await look(someone)).toContain('being replaced');
    expect(await look(someone)).not.toMatch(new RegExp(`${first}|${second}`));
    expect((await auditOf(someone)).map(({ operation }) => operation)).toEqual(['add_build_hook', 'rotate_build_hook_secret']);
  });

  it('is removed after confirmation, and can be added again', async () => {
    const someone = await portal.someone('owner');
    await add(someone);
    await portal.get(`${pathOf(someone)}/remove`, someone.cookie).expect(200);
    expect(await hookOf(someone)).toBeDefined();
    await portal.post(`${pathOf(someone)}/remove`, {}, someone.cookie).expect(303);
    expect(await hookOf(someone)).toBeUndefined();
    for (const path of ['rotate', 'remove']) await portal.get(`${pathOf(someone)}/${path}`, someone.cookie).expect(404);
    await portal.post(`${pathOf(someone)}/test`, {}, someone.cookie).expect(404);
    await add(someone).expect(200);
  });
});
