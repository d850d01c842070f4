import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { SCOPES } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { cookieOf, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const KEY = /tk_live_[0-9a-f]{64}/;

const SETTINGS = {
  ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  SMTP_URL: 'smtp://127.0.0.1:1',
  PUBLIC_URL: 'https://api.example.org',
};

const portal = await fixture(TestPortal.start(SETTINGS));
const api = await fixture(TestApi.start(SETTINGS, portal.database));
let owner: Someone;
let base: string;

beforeEach(async () => {
  owner = await portal.someone('owner', { user: { firstName: 'Olive', lastName: 'Owner' } });
  base = `/o/${owner.organization.slug}/keys`;
});

const get = (path = '', as = owner.cookie) => portal.get(`${base}${path}`, as);
const post = (path: string, fields: Record<string, string | string[]>, as = owner.cookie) => portal.post(`${base}${path}`, fields, as);
const rows = (where = 'true') =>
  portal.make.query<Record<string, unknown> & { id: string }>(
    `SELECT * FROM api_keys WHERE organization_id = $1 AND ${where} ORDER BY created_at, id`,
    [owner.organization.id],
  );
const statusOf = async (key: string) => (await api.get('/v1/ping', key)).status;

/** Creates a key with the form of the page. */
async function make(fields: Record<string, string | string[]> = {}): Promise<{ id: string; key: string }> {
  const sent = await post('', { form_token: randomUUID(), name: 'Website', access: 'read', expires: 'never', ...fields });
  expect(sent.status).toBe(303);
  const { location } = sent.headers as { location: string };
  const shown = await portal.get(location, owner.cookie);
  return { id: location.split('/').at(-2)!, key: KEY.exec(shown.text)![0] };
}

describe('the list of keys', () => {
  it('shows the first and last characters, access, creator, last use and state of each key', async () => {
    const { key } = await make({ name: '<b>Till</b>', access: 'scopes', scopes: ['read', 'payments:write'] });
    await make({ expires: '30d' });
    await api.keys.create(owner.organization.id, { name: 'Ops', platformBlog: true });
    await portal.make.withoutTriggers(`UPDATE api_keys SET expires_at = now() + interval '9 days 1 hour',
      last_used_at = now() - interval '3 hours' WHERE name = 'Website'`);
    const { text } = await get();
    expect(text).toContain(`tk_live_${key.slice(8, 12)}…${key.slice(-4)}`);
    expect(text).toContain('&lt;b&gt;Till&lt;/b&gt;');
    expect(text).not.toContain('<b>Till');
    for (const words of ['payments:write', 'Read-only', 'Platform blog', 'by Olive Owner', 'by an operator']) {
      expect(text).toContain(words);
    }
    expect(text).toMatch(/Never used/);
    expect(text).toMatch(/title="[^"]+A[EW]?[SD]T">3 hours ago<\/time>/);
    expect(text).toContain('Expires in 9 days');
    expect(text.match(/>Active</g)).toHaveLength(3);
  });

  it('shows 25 keys per page, active ones first', async () => {
    for (let count = 1; count <= 26; count++) await api.keys.create(owner.organization.id, { name: `Key ${count}` });
    const first = (await rows())[0]!;
    await api.keys.revokeOf(owner.organization.id, first.id);
    const [one, two] = [(await get()).text, (await get('?page=2')).text];
    expect([one, two].map((text) => text.match(/<h2><a [^>]*>Key /g)?.length)).toEqual([25, 1]);
    expect(one).not.toContain('Revoked');
    expect(two).toContain('Revoked');
    for (const page of ['0', '-1', 'x', '99999999999999999999', '1&page=2']) {
      expect((await get(`?page=${page}`)).status).toBe(200);
    }
  });
});

describe('the form for a key', () => {
  it('offers every scope with its description, and read-only access by default', async () => {
    const { text } = await get('/new');
    for (const [scope, sentence] of Object.entries(SCOPES)) {
      expect(text).toContain(`<code>${scope}</code><span class="quiet">${sentence}</span>`);
    }
    expect(text).toMatch(/value="read" checked><span>Read-only/);
    expect(text).not.toContain('platform');
  });

  it.each([
    [{ name: '' }, 'field-name-error', 'name of 1 to 100 characters'],
    [{ name: 'x'.repeat(101) }, 'field-name-error', 'name of 1 to 100 characters'],
    [{ access: 'scopes', scopes: [] as string[] }, 'scopes-error', 'Choose at least one scope'],
    [{ expires: 'date', date: '' }, 'field-date-error', 'Choose today or a later date'],
    [{ expires: 'date', date: '2020-01-01' }, 'field-date-error', 'Choose today or a later date'],
    [{ expires: 'date', date: '2031-02-30' }, 'field-date-error', 'Choose today or a later date'],
  ])('keeps the input and shows the error at its field: %j', async (wrong, id, message) => {
    const typed = { form_token: randomUUID(), name: 'My “tool”', access: 'scopes', scopes: ['write'], expires: '90d' };
    const { status, text } = await post('', { ...typed, ...wrong });
    expect(status).toBe(422);
    expect(text).toMatch(new RegExp(`class="error" id="${id}">[^<]*${message}`));
    expect(text).toMatch(new RegExp(`aria-describedby="[^"]*${id}"`));
    expect(text).toContain(typed.form_token);
    if (!('name' in wrong)) expect(text).toContain('value="My “tool”"');
    if (!('expires' in wrong)) expect(text).toContain('value="90d" checked');
    if (!('scopes' in wrong)) expect(text).toContain('value="write" checked');
    expect(await rows()).toEqual([]);
  });

  it.each([
    { scopes: ['read', 'admin'] },
    { scopes: ['platform_blog'] },
    { access: 'everything' },
    { expires: '7' },
    { expires: '__proto__' },
    { name: ['a', 'b'] },
    { name: 'NUL \0' },
  ])('refuses values that the page does not offer: %j', async (wrong) => {
    const { status } = await post('', { form_token: randomUUID(), name: 'x', access: 'scopes', scopes: ['read'], expires: 'never', ...wrong });
    expect(status).toBe(400);
    expect(await rows()).toEqual([]);
  });

  it('cannot give a key the platform’s blog or another owner', async () => {
    const more = { platform_blog: 'true', platformBlog: 'true', organization_id: uuidv7(), created_by: uuidv7() };
    await make(more);
    expect(await rows()).toMatchObject([{ platform_blog: false, created_by: owner.user.id, scopes: ['read'] }]);
  });

  it("sets the expiry to the end of a day in the organization's time zone, or some days ahead", async () => {
    await make({ expires: 'date', date: '2031-01-31' });
    await make({ expires: '1y' });
    const [dated, year] = (await rows()) as unknown as { expires_at: Date; created_at: Date }[];
    expect(dated!.expires_at.toISOString()).toBe('2031-01-31T12:59:59.999Z');
    expect(year!.expires_at.getTime() - year!.created_at.getTime()).toBe(365 * 86_400_000);
  });
});

describe('a new key', () => {
  it('works, and is shown once with sample code that calls the API', async () => {
    const sent = await post('', { form_token: randomUUID(), name: 'Website', access: 'read', expires: '30d' });
    expect(sent.text).not.toMatch(KEY);
    const location = sent.headers.location as string;
    expect(location).toMatch(new RegExp(`^${base}/[0-9a-f-]{36}/created$`));
    const shown = await portal.get(location, owner.cookie);
    const [key] = KEY.exec(shown.text)!;
    expect(shown.headers['cache-control']).toBe('no-store');
    expect(shown.text).toContain(`curl -H &#39;Authorization: Token token=${key}&#39;`);
    expect(shown.text).toContain(`await fetch(&#39;https://api.example.org/v1/me&#39;`);
    const [stored] = (await rows()) as unknown as { expires_at: Date }[];
    expect(shown.text).toContain(stored!.expires_at.toISOString());
    expect(await statusOf(key)).toBe(200);
    const again = await portal.get(location, owner.cookie);
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('This key cannot be shown again')]);
    expect(again.text).not.toMatch(KEY);
    const { id } = (await rows())[0]!;
    for (const path of ['', '/new', `/${id}/created`, `/${id}/replace`, `/${id}/revoke`]) expect((await get(path)).text).not.toContain(key.slice(8));
  });

  it('is created and shown once if the form is sent several times, at once or later', async () => {
    const fields = { form_token: randomUUID(), name: 'Website', access: 'read', expires: 'never' };
    const sent = await Promise.all([1, 2, 3, 4].map(() => post('', fields)));
    const places = new Set(sent.map(({ headers }) => headers.location as string));
    expect([places.size, (await rows()).length]).toEqual([1, 1]);
    expect((await portal.get([...places][0]!, owner.cookie)).text).toMatch(KEY);
    const later = await post('', fields);
    expect(later.headers.location).toBe([...places][0]);
    expect((await portal.get([...places][0]!, owner.cookie)).text).not.toMatch(KEY);
    expect(await rows()).toHaveLength(1);
  });

  it('is shown only to the session that created it, even after a HEAD request', async () => {
    const sent = await post('', { form_token: randomUUID(), name: 'Website', access: 'read', expires: 'never' });
    const location = sent.headers.location as string;
    expect((await portal.head(location, owner.cookie)).status).toBe(200);
    const colleague = await portal.someone('admin', { organization: owner.organization });
    const elsewhere = await portal.session(owner.user.id);
    for (const cookie of [colleague.cookie, elsewhere]) {
      expect((await portal.get(location, cookie)).text).toContain('This key cannot be shown again');
    }
    expect((await portal.get(location, owner.cookie)).text).toMatch(KEY);
  });

  it('is not shown after five minutes', async () => {
    const sent = await post('', { form_token: randomUUID(), name: 'Website', access: 'read', expires: 'never' });
    await portal.make.query(`UPDATE api_key_handovers SET expires_at = now() - interval '1 second'`);
    expect((await portal.get(sent.headers.location as string, owner.cookie)).text).not.toMatch(KEY);
  });
});

describe('replacing', () => {
  it('creates a key with the same name and access, and the old one works for the chosen overlap', async () => {
    const old = await make({ name: 'Sync', access: 'scopes', scopes: ['read', 'write'] });
    const asked = await get(`/${old.id}/replace`);
    expect(asked.text).toContain('Replace “Sync”?');
    expect(asked.text).not.toMatch(KEY);
    const fields = { form_token: randomUUID(), overlap: '1h' };
    const sent = await Promise.all([1, 2].map(() => post(`/${old.id}/replace`, fields)));
    expect(new Set(sent.map(({ headers }) => headers.location as string)).size).toBe(1);
    const [key] = KEY.exec((await portal.get(sent[0]!.headers.location as string, owner.cookie)).text)!;
    expect([await statusOf(old.key), await statusOf(key)]).toEqual([200, 200]);
    const [before, after] = (await rows()) as unknown as Record<string, unknown>[];
    expect(after).toMatchObject({ name: 'Sync', scopes: ['read', 'write'], created_by: owner.user.id });
    expect(before).toMatchObject({ replaced_by: after!.id });
    expect((await get()).text).toContain('Replaced');
    const atOnce = await post(`/${String(after!.id)}/replace`, { form_token: randomUUID(), overlap: 'now' });
    expect(atOnce.status).toBe(303);
    expect(await statusOf(key)).toBe(401);
  });

  it('is refused for a revoked key, and says so', async () => {
    const { id } = await make();
    await post(`/${id}/revoke`, {});
    expect((await get(`/${id}/replace`)).text).toContain('cannot be replaced');
    const refused = await post(`/${id}/replace`, { form_token: randomUUID(), overlap: 'now' });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('cannot be replaced')]);
    expect(await rows()).toHaveLength(1);
    expect((await post(`/${id}/replace`, { form_token: randomUUID(), overlap: '99d' })).status).toBe(400);
  });

  it('does not pass on access to the platform’s blog, and says so', async () => {
    const { id } = await api.keys.create(owner.organization.id, { name: 'Platform', platformBlog: true });
    expect((await get(`/${id}/replace`)).text).toContain('cannot write to the platform’s blog');
    await post(`/${id}/replace`, { form_token: randomUUID(), overlap: 'now' });
    expect(await rows('platform_blog')).toHaveLength(1);
  });
});

describe('revoking', () => {
  it('asks for confirmation, naming the key and its last use, and takes effect at once', async () => {
    const { id, key } = await make({ name: 'Website' });
    expect((await get(`/${id}/revoke`)).text).toMatch(/Revoke “Website”\?.*It has never been used/s);
    await portal.make.query(`UPDATE api_keys SET last_used_at = now() - interval '2 days' WHERE id = $1`, [id]);
    expect((await get(`/${id}/revoke`)).text).toContain('It was last used 2 days ago.');
    expect(await statusOf(key)).toBe(200);
    const sent = await post(`/${id}/revoke`, {});
    expect([sent.status, sent.headers.location]).toEqual([303, base]);
    expect(await statusOf(key)).toBe(401);
    const list = await portal.get(base, `${owner.cookie}; ${cookieOf(sent, 'flash')!}`);
    expect(list.text).toContain('The key “Website” is revoked.');
    expect(list.text).toContain('>Revoked<');
    expect((await post(`/${id}/revoke`, {})).status).toBe(303);
  });

  it('notifies owners and admins by mail and writes the audit log, like every change', async () => {
    const admin = await portal.someone('admin', { organization: owner.organization });
    await portal.someone('tutor', { organization: owner.organization });
    const { id } = await make();
    await post(`/${id}/replace`, { form_token: randomUUID(), overlap: '7d' });
    await post(`/${id}/revoke`, {});
    for (const email of [admin.user.email, owner.user.email])
      for (const kind of ['key_created', 'key_replaced', 'key_revoked'])
        expect([email, kind, await portal.mailsTo(email, kind)]).toEqual([email, kind, [expect.anything()]]);
    const audited = (await portal.audited(owner.organization.id)).filter(({ by }) => by === owner.user.id);
    expect(audited.map(({ operation }) => operation)).toEqual(['create API key', 'replace API key', 'revoke API key']);
  });
});
