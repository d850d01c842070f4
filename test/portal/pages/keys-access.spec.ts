import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewApiKey } from '@app/accounts';
import { TestApi } from '../../support/http/api.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const SETTINGS = { ENCRYPTION_KEY: randomBytes(32).toString('hex') };

const portal = await fixture(TestPortal.start(SETTINGS));
const api = await fixture(TestApi.start(SETTINGS, portal.database));
let owner: Someone;
let base: string;

beforeEach(async () => {
  owner = await portal.someone('owner');
  base = `/o/${owner.organization.slug}/keys`;
});

const create = (wanted: Partial<NewApiKey> = {}) => api.keys.create(owner.organization.id, { name: 'Site', ...wanted });

describe('access to keys', () => {
  const PATHS: [string, string][] = [
    ['GET', ''],
    ['GET', '/new'],
    ['POST', ''],
    ...['created', 'replace', 'revoke'].map((page): [string, string] => ['GET', `/:id/${page}`]),
    ...['replace', 'revoke'].map((page): [string, string] => ['POST', `/:id/${page}`]),
  ];
  const FIELDS = { form_token: randomUUID(), name: 'x', access: 'read', expires: 'never', overlap: 'now' };
  const ask = (method: string, path: string, cookie: string) =>
    method === 'GET' ? portal.get(path, cookie) : portal.post(path, FIELDS, cookie);
  // The API records uses by itself, a little later.
  const state = () => portal.make.query(`SELECT to_jsonb(k) - 'last_used_at' AS key FROM api_keys k ORDER BY id`);

  it.each(PATHS)('%s %s is for owners and admins only', async (method, path) => {
    const { id } = await create();
    const at = `${base}${path.replace(':id', id)}`;
    const before = await state();
    for (const role of ['tutor', 'student'] as const) {
      const { cookie } = await portal.someone(role, { organization: owner.organization });
      const { status, text } = await ask(method, at, cookie);
      expect([role, status, text]).toEqual([role, 403, expect.stringContaining('Only owners and admins')]);
    }
    const stranger = await portal.someone('owner');
    expect((await ask(method, at, stranger.cookie)).status).toBe(404);
    const anonymous = await ask(method, at, '');
    expect([anonymous.status, anonymous.headers.location]).toEqual([303, expect.stringMatching(/^\/sign-in/)]);
    expect(await state()).toEqual(before);
    const admin = await portal.someone('admin', { organization: owner.organization });
    expect((await ask(method, at, admin.cookie)).status).toBeLessThan(400);
  });

  it.each(PATHS.filter(([, path]) => path.includes(':id')))(
    '%s %s returns 404 for keys of other organizations, and does not change them',
    async (method, path) => {
      const foreign = await api.keys.create((await portal.someone('owner')).organization.id, { name: 'foreign' });
      const before = await state();
      const answers = await Promise.all(
        [foreign.id, uuidv7(), 'nonsense'].map((id) => ask(method, `${base}${path.replace(':id', id)}`, owner.cookie)),
      );
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
      const texts = answers.map(({ text }) => text.replace(/<code>[^<]*<\/code>/g, ''));
      expect(new Set(texts).size).toBe(1);
      expect(await state()).toEqual(before);
      expect((await api.get('/v1/ping', foreign.key)).status).toBe(200);
    },
  );

  it('cannot give a key the platform’s blog or another owner through form fields', async () => {
    const more = { platform_blog: 'true', platformBlog: 'true', organization_id: uuidv7(), created_by: uuidv7() };
    await portal.post(base, { ...FIELDS, ...more }, owner.cookie);
    const keys = await portal.make.query(
      'SELECT platform_blog, created_by, scopes FROM api_keys WHERE organization_id = $1',
      [owner.organization.id],
    );
    expect(keys).toEqual([{ platform_blog: false, created_by: owner.user.id, scopes: ['read'] }]);
  });

  it('lists only the keys of the organization in the path', async () => {
    const other = await portal.make.organization();
    await portal.make.member(other.id, { role: 'owner', user: { id: owner.user.id } });
    await create({ name: 'Here' });
    await api.keys.create(other.id, { name: 'There' });
    const { text } = await portal.get(base, owner.cookie);
    expect(text).toContain('Here');
    expect(text).not.toContain('There');
  });
});

describe('the portal’s database role', () => {
  it.each([
    [
      'create a key for the platform’s blog',
      `INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four,
      platform_blog) VALUES (gen_random_uuid(), $1, 'x', sha256('x'), 'aaaa', 'bbbb', true)`,
    ],
    [
      'create a key of another organization',
      `INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four)
      VALUES (gen_random_uuid(), gen_random_uuid(), 'x', sha256($1), 'aaaa', 'bbbb')`,
    ],
    ['read hashes', 'SELECT key_hash FROM api_keys WHERE organization_id = $1'],
    ['add scopes to a key', `UPDATE api_keys SET scopes = '{read,write}' WHERE organization_id = $1`],
    ['move a key', 'UPDATE api_keys SET organization_id = $1'],
    ['delete a key', 'DELETE FROM api_keys WHERE organization_id = $1'],
    [
      'extend the expiry of a key',
      `UPDATE api_keys SET expires_at = now() + interval '1 day' WHERE organization_id = $1`,
    ],
  ])('cannot %s', async (_what, statement) => {
    await create({ expiresAt: new Date('2031-01-31') });
    await portal.make.query(`UPDATE api_keys SET expires_at = now() WHERE organization_id = $1`, [
      owner.organization.id,
    ]);
    const client = new pg.Client({ connectionString: portal.database.portalUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(`SELECT set_config('app.organization_id', $1, true)`, [owner.organization.id]);
      await expect(client.query(statement, [owner.organization.id])).rejects.toMatchObject({ code: '42501' });
    } finally {
      await client.end();
    }
  });
});
