import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeys, KeyMadeBefore, KeyRefused, type NewApiKey, type Overlap, OVERLAPS, type Scope } from '@app/accounts';
import { loadEnv, Vault } from '@app/config';
import { connect, Database, type Tables } from '@app/database';
import type { EmailPayload } from '@app/jobs';
import { Factories } from '../support/data/factories.js';
import { TestApi } from '../support/http/api.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What people and operators do with keys, on a real database, with the real API beside it. */
describe('changes of API keys', () => {
  let api: TestApi;
  let make: Factories;
  let keys: ApiKeys;
  let vault: Vault;
  let school: string;
  let owner: Tables['users'];
  let close: () => Promise<void>;

  beforeAll(async () => {
    const settings = {
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      SMTP_URL: 'smtp://127.0.0.1:1',
      APP_URL: 'https://app.example.org',
      // Used up by anything: mails about keys go out all the same.
      INVITE_MAILS_PER_DAY: '1',
    };
    api = await TestApi.start(settings);
    make = await Factories.connect(api.database);
    const env = loadEnv({ ...settings, DATABASE_URL: api.database.applicationUrl }, {});
    const dataSource = await connect({ url: api.database.ownerUrl, poolSize: 12, applicationName: 'tutoring tests' });
    keys = ApiKeys.on(new Database(dataSource), env);
    vault = new Vault(env);
    close = () => dataSource.destroy();
  });
  beforeEach(async () => {
    school = (await make.organization({ name: 'Brighter Days' })).id;
    owner = await make.member(school, { role: 'owner', user: { firstName: 'Olive', lastName: 'Owner' } });
  });
  afterAll(async () => {
    await make.close();
    await close();
    await api.stop();
  });

  const person = () => ({ userId: owner.id, requestId: `request-${owner.id}` });
  const create = (wanted: Partial<NewApiKey> = {}) => keys.create(school, { name: 'Site', ...wanted }, person());
  const replace = (id: string, overlap: Overlap = '24h') => keys.replace(school, id, { overlap }, person());
  const row = (id: string) => make.find('api_keys', id);
  const statusOf = async (key: string) => (await api.get('/v1/me', key)).status;
  const audit = () =>
    make.query<{ operation: string; user_id: string }>(
      'SELECT * FROM audit_log WHERE organization_id = $1 AND api_key_id IS NULL ORDER BY created_at, id',
      [school],
    );
  async function mails() {
    const rows = await make.query<{ kind: string; recipient: string; payload: Buffer }>(
      `SELECT kind, recipient, payload FROM outbox WHERE organization_id = $1 ORDER BY created_at, id`,
      [school],
    );
    return rows.map(({ kind, recipient, payload }) => ({
      kind,
      to: recipient,
      payload: JSON.parse(vault.open('outbox payloads', payload)) as EmailPayload,
    }));
  }

  /** Everything that the database holds, as text. */
  async function dump(): Promise<string> {
    const tables = await make.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    );
    const texts = await Promise.all(tables.map(({ name }) => make.query(`SELECT t::text AS text FROM ${name} t`)));
    return JSON.stringify(texts);
  }

  describe('a new key', () => {
    it('works with its scopes, belongs to its maker, leaves an audit row, and nothing keeps its text', async () => {
      const made = await create({ scopes: ['read', 'payments:write'], expiresAt: { inDays: 30 } });
      expect(made.key).toMatch(/^tk_live_[0-9a-f]{64}$/);
      const me = await api.get('/v1/me', made.key);
      expect([me.status, me.body]).toEqual([200, expect.objectContaining({ scopes: ['read', 'payments:write'] })]);
      const stored = await row(made.id);
      expect(stored).toMatchObject({ name: 'Site', createdBy: owner.id, platformBlog: false, revokedAt: null });
      expect(stored.expiresAt).toEqual(made.expiresAt);
      expect(stored.expiresAt!.getTime() - stored.createdAt.getTime()).toBe(30 * DAY);
      expect(await audit()).toEqual([
        expect.objectContaining({
          user_id: owner.id,
          operation: 'create API key',
          request_id: `request-${owner.id}`,
          result: 'done',
          details: {
            api_key_id: made.id,
            scopes: ['read', 'payments:write'],
            expires_at: made.expiresAt!.toISOString(),
          },
        }),
      ]);
      expect(await dump()).not.toContain(made.key.slice(8));
      expect(JSON.stringify(await mails())).not.toContain(made.key.slice(8, -4));
    });

    it('is read-only, and lives for ever, unless told otherwise', async () => {
      expect(await row((await create()).id)).toMatchObject({ scopes: ['read'], expiresAt: null });
    });

    it.each([
      ['Australia/Melbourne', '2030-07-01', '2030-07-01T13:59:59.999Z'],
      ['Australia/Melbourne', '2030-12-31', '2030-12-31T12:59:59.999Z'],
      // The day on which summer time begins has 23 hours, the one on which it ends 25.
      ['Australia/Melbourne', '2030-10-06', '2030-10-06T12:59:59.999Z'],
      ['America/New_York', '2030-11-03', '2030-11-04T04:59:59.999Z'],
      ['Pacific/Kiritimati', '2030-02-28', '2030-02-28T09:59:59.999Z'],
      ['Asia/Kathmandu', '2032-02-29', '2032-02-29T18:14:59.999Z'],
    ])('that ends with a day ends with that day in %s (%s)', async (timeZone, endOf, instant) => {
      school = (await make.organization({ timeZone })).id;
      owner = await make.member(school, { role: 'owner' });
      expect((await create({ expiresAt: { endOf } })).expiresAt?.toISOString()).toBe(instant);
    });

    it('can end with today, where the organization is', async () => {
      const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Australia/Melbourne' }).format(new Date());
      const { expiresAt } = await create({ expiresAt: { endOf: today } });
      expect(expiresAt!.getTime()).toBeGreaterThan(Date.now());
    });

    it.each([
      ['name', { name: '' }],
      ['name', { name: ' \t ' }],
      ['name', { name: 'x'.repeat(101) }],
      ['name', { name: 'two\nlines' }],
      ['name', { name: '\u200b' }],
      ['name', { name: 'half \ud800' }],
      ['scopes', { scopes: [] as Scope[] }],
      ['expiry', { expiresAt: { endOf: '2020-01-01' } }],
      ['expiry', { expiresAt: { endOf: '2030-02-29' } }],
      ['expiry', { expiresAt: { endOf: '2030-13-01' } }],
      ['expiry', { expiresAt: { endOf: 'tomorrow' } }],
      ['expiry', { expiresAt: { endOf: '' } }],
    ])('is refused for its %s: %j', async (problem, wish) => {
      await expect(create(wish)).rejects.toMatchObject({ problem });
      await expect(create(wish)).rejects.toThrow(KeyRefused);
      expect(await keys.list(school)).toEqual([]);
      expect([await audit(), await mails()]).toEqual([[], []]);
    });

    it('has a name of 100 characters at most, without the blanks around it', async () => {
      const name = '🔑'.repeat(100);
      expect(await row((await create({ name: ` ${name} ` })).id)).toMatchObject({ name });
    });

    it('is made once, however often its form is sent at a time', async () => {
      const formToken = randomUUID();
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => create({ formToken })));
      const [made, ...more] = results.filter((result) => result.status === 'fulfilled');
      expect(more).toEqual([]);
      const listed = await keys.list(school);
      expect(listed.map(({ id }) => id)).toEqual([made!.value.id]);
      for (const result of results) {
        if (result.status === 'fulfilled') continue;
        expect(result.reason).toBeInstanceOf(KeyMadeBefore);
        expect((result.reason as KeyMadeBefore).id).toBe(made!.value.id);
      }
      expect([(await audit()).length, (await mails()).length]).toEqual([1, 1]);
      expect(await statusOf(made!.value.key)).toBe(200);
      // The same token elsewhere is another form.
      const other = (await make.organization()).id;
      expect(await keys.create(other, { name: 'Other', formToken })).toMatchObject({
        id: expect.any(String) as string,
      });
    });

    it('is undone when what belongs to it fails', async () => {
      const failing = keys.create(school, { name: 'Site' }, person(), () => Promise.reject(new Error('no hand-over')));
      await expect(failing).rejects.toThrow('no hand-over');
      expect([await keys.list(school), await audit(), await mails()]).toEqual([[], [], []]);
    });

    it('is refused to people beyond 100 that work, or 50 in a day; replaced and revoked ones make room', async () => {
      const fill = (count: number, createdAt: Date, revokedAt: Date | null = null) =>
        make.rows(
          'api_keys',
          Array.from({ length: count }, () => {
            const ends = { firstFour: 'aaaa', lastFour: 'bbbb' };
            const key = { id: uuidv7(), organizationId: school, name: 'old', keyHash: randomBytes(32), ...ends };
            return { ...key, createdAt, revokedAt };
          }),
        );
      await fill(99, new Date(Date.now() - 2 * DAY));
      const { id } = await create();
      await expect(create()).rejects.toMatchObject({ problem: 'too_many' });
      const next = (await replace(id))!;
      await expect(create()).rejects.toMatchObject({ problem: 'too_many' });
      await keys.revokeOf(school, next.id, person());
      await create();
      await fill(47, new Date(), new Date());
      await keys.revokeOf(school, (await keys.list(school)).at(0)!.id, person());
      await expect(create()).rejects.toMatchObject({ problem: 'too_many_today' });
      // Not the operator.
      await keys.create(school, { name: 'Operator' });
    });
  });

  describe('a key that is replaced', () => {
    it.each(Object.keys(OVERLAPS) as Overlap[])(
      'goes on for the overlap (%s), beside one of its name and scopes',
      async (overlap) => {
        const old = await create({ name: 'Sync', scopes: ['read', 'write'] });
        const before = Date.now();
        const made = (await replace(old.id, overlap))!;
        const [ended, next] = [await row(old.id), await row(made.id)];
        expect(next).toMatchObject({ name: 'Sync', scopes: ['read', 'write'], expiresAt: null, createdBy: owner.id });
        expect(ended).toMatchObject({ replacedBy: made.id, revokedAt: null });
        const overlapMs = ended.expiresAt!.getTime() - ended.replacedAt!.getTime();
        expect(overlapMs).toBe(OVERLAPS[overlap] * HOUR);
        expect(ended.replacedAt!.getTime()).toBeGreaterThan(before - 60_000);
        expect(await statusOf(made.key)).toBe(200);
        expect(await statusOf(old.key)).toBe(overlap === 'now' ? 401 : 200);
      },
    );

    it('never goes on for longer than it would have', async () => {
      const old = await create({ expiresAt: new Date(Date.now() + 2 * HOUR) });
      await replace(old.id, '30d');
      expect((await row(old.id)).expiresAt).toEqual(old.expiresAt);
    });

    it('leaves one that lives as long as it was made to live', async () => {
      const old = await create({ expiresAt: { inDays: 90 } });
      await make.withoutTriggers(`UPDATE api_keys SET created_at = created_at - interval '80 days',
        expires_at = expires_at - interval '80 days' WHERE id = '${old.id}'`);
      const made = (await replace(old.id))!;
      const { createdAt, expiresAt } = await row(made.id);
      expect(Math.round((expiresAt!.getTime() - createdAt.getTime()) / DAY)).toBe(90);
    });

    it('hands on the platform’s blog by the operator’s hand only', async () => {
      const old = await keys.create(school, { name: 'Platform', platformBlog: true });
      const byPerson = (await replace(old.id))!;
      expect((await row(byPerson.id)).platformBlog).toBe(false);
      const again = await keys.create(school, { name: 'Platform', platformBlog: true });
      const byOperator = (await keys.replace(school, again.id, { overlap: 'now' }))!;
      expect((await row(byOperator.id)).platformBlog).toBe(true);
    });

    it('must work, belong to the organization, and is replaced once by each form', async () => {
      const [expired, revoked, foreign] = [await create(), await create(), await create()];
      await make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
      await keys.revokeOf(school, revoked.id);
      for (const { id } of [expired, revoked]) {
        await expect(replace(id)).rejects.toMatchObject({ problem: 'not_active' });
      }
      const other = (await make.organization()).id;
      expect(await keys.replace(other, foreign.id, { overlap: 'now' }, person())).toBeNull();
      expect(await keys.replace(school, uuidv7(), { overlap: 'now' }, person())).toBeNull();
      const before = (await keys.list(school)).length;
      const wish = { overlap: 'now', formToken: randomUUID() } as const;
      const sent = await Promise.allSettled([1, 2, 3].map(() => keys.replace(school, foreign.id, wish, person())));
      const made = sent.filter((result) => result.status === 'fulfilled');
      expect(made).toHaveLength(1);
      const { replacedBy } = await row(foreign.id);
      expect(made[0]!.value!.id).toBe(replacedBy);
      for (const result of sent) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ id: replacedBy });
      }
      expect((await keys.list(school)).length).toBe(before + 1);
    });

    it('leaves an audit row that names both', async () => {
      const old = await create();
      const made = (await replace(old.id, 'now'))!;
      const { expiresAt } = await row(old.id);
      expect((await audit()).at(-1)).toMatchObject({
        user_id: owner.id,
        operation: 'replace API key',
        details: { api_key_id: old.id, replaced_by: made.id, expires_at: expiresAt!.toISOString() },
      });
    });
  });

  describe('a key that is revoked', () => {
    it('is refused from that moment on; a second time changes and tells nothing', async () => {
      const { id, key } = await create();
      expect(await statusOf(key)).toBe(200);
      expect(await keys.revokeOf(school, id, person())).toMatchObject({ id, status: 'revoked' });
      expect(await statusOf(key)).toBe(401);
      const { revokedAt } = await row(id);
      const before = [await audit(), await mails()];
      expect(await keys.revokeOf(school, id, person())).toMatchObject({ id, status: 'revoked' });
      expect((await row(id)).revokedAt).toEqual(revokedAt);
      expect([await audit(), await mails()]).toEqual(before);
      expect(before[0]!.at(-1)).toMatchObject({ operation: 'revoke API key', details: { api_key_id: id } });
    });

    it('is its own organization’s', async () => {
      const { id, key } = await create();
      const other = (await make.organization()).id;
      expect(await keys.revokeOf(other, id, person())).toBeNull();
      expect(await keys.revokeOf(school, uuidv7(), person())).toBeNull();
      expect(await keys.get(other, id)).toBeNull();
      expect(await statusOf(key)).toBe(200);
    });
  });

  it('the list shows keys that work first, masked, with who made them and their state', async () => {
    const [expired, revoked, plain, used] = [await create(), await create(), await create(), await create()];
    await make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
    await keys.revokeOf(school, revoked.id);
    await make.query('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [used.id]);
    const operators = await keys.create(school, { name: 'Operator’s' });
    const listed = await keys.list(school);
    expect(listed.map(({ id, status }) => [id, status])).toEqual([
      [operators.id, 'active'],
      [used.id, 'active'],
      [plain.id, 'active'],
      [revoked.id, 'revoked'],
      [expired.id, 'expired'],
    ]);
    expect(listed[0]).toMatchObject({ createdBy: null, creator: null });
    expect(listed[2]).toMatchObject({
      createdBy: owner.id,
      creator: 'Olive Owner',
      display: `tk_live_${plain.key.slice(8, 12)}…${plain.key.slice(-4)}`,
      lastUsedAt: null,
    });
    expect(await keys.get(school, plain.id)).toEqual(listed[2]);
    expect((await keys.list(school, 2, 1)).map(({ id }) => id)).toEqual([used.id, plain.id]);
  });

  describe('mails', () => {
    it('go to every owner and admin who has accepted, and nobody else, each time', async () => {
      const admin = await make.member(school, { role: 'admin' });
      await make.member(school, { role: 'tutor' });
      await make.member(school, { role: 'admin', status: 'pending', suppliedEmail: 'pending@example.org' });
      await make.member(school, { role: 'owner', status: 'archived' });
      await make.member(school, { role: 'owner', user: { placeholderEmail: true } });
      await make.member((await make.organization()).id, { role: 'owner' });
      const old = await create({ name: 'Sync', scopes: ['read'] });
      const made = (await replace(old.id, '1h'))!;
      await keys.revokeOf(school, made.id);
      const sent = await mails();
      const everybody = [admin.email, owner.email].sort();
      for (const kind of ['key_created', 'key_replaced', 'key_revoked']) {
        const to = sent.filter((mail) => mail.kind === kind).map((mail) => mail.to);
        expect([kind, to.sort()]).toEqual([kind, everybody]);
      }
      expect(sent).toHaveLength(6);
      const [masked, next] = [old, made].map(({ key }) => `tk_live_${key.slice(8, 12)}…${key.slice(-4)}`);
      expect(sent[0]!.payload).toMatchObject({
        organizationName: 'Brighter Days',
        joinUrl: `https://app.example.org/o/school-${school}/keys`,
        key: { name: 'Sync', display: masked, by: 'Olive Owner', scopes: ['read'], expiresAt: null },
      });
      const { expiresAt } = await row(old.id);
      expect(sent[2]!.payload.key).toMatchObject({
        display: masked,
        successor: next,
        expiresAt: expiresAt!.toISOString(),
      });
      expect(sent[4]!.payload.key).toMatchObject({ display: next, by: null });
    });

    it('are not queued without SMTP_URL, or where the encryption key is not at hand', async () => {
      const dataSource = await connect({ url: api.database.ownerUrl, poolSize: 2, applicationName: 'tutoring tests' });
      const incomplete: Record<string, string>[] = [
        { SMTP_URL: 'smtp://127.0.0.1:1' },
        { ENCRYPTION_KEY: randomBytes(32).toString('hex') },
      ];
      for (const settings of incomplete) {
        const bare = ApiKeys.on(new Database(dataSource), loadEnv(settings, {}));
        expect(await statusOf((await bare.create(school, { name: 'Bare' })).key)).toBe(200);
      }
      expect(await mails()).toEqual([]);
      await dataSource.destroy();
    });
  });

  describe('the database', () => {
    it.each([
      [`scopes = '{read,write}'`, 'opens cannot be changed'],
      ['platform_blog = true', 'opens cannot be changed'],
      [`key_hash = sha256('another')`, 'opens cannot be changed'],
      [`expires_at = expires_at + interval '1 second'`, 'cannot be put off'],
      ['expires_at = NULL', 'cannot be put off'],
      ['revoked_at = NULL', 'cannot be put off'],
      [`revoked_at = now() + interval '1 day'`, 'cannot be put off'],
    ])('lets nobody write %s', async (change, message) => {
      const { id } = await create({ expiresAt: { inDays: 30 } });
      await keys.revokeOf(school, id);
      await expect(make.query(`UPDATE api_keys SET ${change} WHERE id = $1`, [id])).rejects.toThrow(message);
    });

    it('lets an expiry be set, and brought forward', async () => {
      const { id } = await create();
      await make.query(`UPDATE api_keys SET expires_at = now() + interval '1 day' WHERE id = $1`, [id]);
      await make.query(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [id]);
    });
  });
});
