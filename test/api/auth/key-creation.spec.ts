import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { KeyMadeBefore, type Scope } from '@app/access';
import { DAY, KeyChanges } from '../../support/data/key-changes.js';
import { fixture } from '../../support/process/fixture.js';

const on = await fixture(KeyChanges.open());
beforeEach(() => on.reset());

describe('a new API key', () => {
  it('works with its scopes and is audited, but its text is in no email', async () => {
    const made = await on.create({ scopes: ['read', 'payments:write'], expiresAt: { inDays: 30 } });
    expect(made.key).toMatch(/^tk_live_[0-9a-f]{64}$/);
    const me = await on.api.get('/v1/me', made.key);
    expect([me.status, me.body]).toEqual([200, expect.objectContaining({ scopes: ['read', 'payments:write'] })]);
    const stored = await on.row(made.id);
    expect(stored).toMatchObject({ name: 'Site', createdBy: on.owner.id, platformBlog: false, revokedAt: null });
    expect(stored.expiresAt).toEqual(made.expiresAt);
    expect(stored.expiresAt!.getTime() - stored.createdAt.getTime()).toBe(30 * DAY);
    expect(await on.audit()).toEqual([
      expect.objectContaining({
        user_id: on.owner.id,
        operation: 'create API key',
        request_id: `request-${on.owner.id}`,
        result: 'done',
        details: { api_key_id: made.id, scopes: ['read', 'payments:write'], expires_at: made.expiresAt!.toISOString() },
      }),
    ]);
    expect(JSON.stringify(await on.mails())).not.toContain(made.key.slice(8, -4));
  });

  it('is read-only and does not expire by default', async () => {
    expect(await on.row((await on.create()).id)).toMatchObject({ scopes: ['read'], expiresAt: null });
  });

  it.each([
    ['Australia/Melbourne', '2030-07-01', '2030-07-01T13:59:59.999Z'],
    ['Australia/Melbourne', '2030-12-31', '2030-12-31T12:59:59.999Z'],
    // The day on which daylight saving time begins has 23 hours; the day on which it ends has 25.
    ['Australia/Melbourne', '2030-10-06', '2030-10-06T12:59:59.999Z'],
    ['America/New_York', '2030-11-03', '2030-11-04T04:59:59.999Z'],
    ['Pacific/Kiritimati', '2030-02-28', '2030-02-28T09:59:59.999Z'],
    ['Asia/Kathmandu', '2032-02-29', '2032-02-29T18:14:59.999Z'],
  ])('that expires on a day expires at the end of that day in %s (%s)', async (timeZone, endOf, instant) => {
    on.school = (await on.make.organization({ timeZone })).id;
    on.owner = await on.make.member(on.school, { role: 'owner' });
    expect((await on.create({ expiresAt: { endOf } })).expiresAt?.toISOString()).toBe(instant);
  });

  it('can expire today in the organization’s time zone', async () => {
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Australia/Melbourne' }).format(new Date());
    const { expiresAt } = await on.create({ expiresAt: { endOf: today } });
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
    ['expires_at', { expiresAt: { endOf: '2020-01-01' } }],
    ['expires_at', { expiresAt: { endOf: '2030-02-29' } }],
    ['expires_at', { expiresAt: { endOf: '2030-13-01' } }],
    ['expires_at', { expiresAt: { endOf: 'tomorrow' } }],
    ['expires_at', { expiresAt: { endOf: '' } }],
  ])('is refused for its %s: %j', async (field, wish) => {
    await expect(on.create(wish)).rejects.toMatchObject({ why: { kind: 'invalid', refusals: [{ at: [field] }] } });
    expect(await on.keys.list(on.school)).toEqual([]);
    expect([await on.audit(), await on.mails()]).toEqual([[], []]);
  });

  it('has a trimmed name of at most 100 characters', async () => {
    const name = '🔑'.repeat(100);
    expect(await on.row((await on.create({ name: ` ${name} ` })).id)).toMatchObject({ name });
  });

  it('is created once when its form is sent several times concurrently', async () => {
    const formToken = randomUUID();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => on.create({ formToken })));
    const [made, ...more] = results.filter((result) => result.status === 'fulfilled');
    expect(more).toEqual([]);
    const listed = await on.keys.list(on.school);
    expect(listed.map(({ id }) => id)).toEqual([made!.value.id]);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      expect(result.reason).toBeInstanceOf(KeyMadeBefore);
      expect((result.reason as KeyMadeBefore).id).toBe(made!.value.id);
    }
    expect([(await on.audit()).length, (await on.mails()).length]).toEqual([1, 1]);
    expect(await on.statusOf(made!.value.key)).toBe(200);
    // In another organization, the same token belongs to another form.
    const other = (await on.make.organization()).id;
    expect(await on.keys.create(other, { name: 'Other', formToken })).toMatchObject({ id: expect.any(String) as string });
  });

  it('is rolled back when the hand-over fails', async () => {
    const failing = on.keys.create(on.school, { name: 'Site' }, on.person(), () => Promise.reject(new Error('no hand-over')));
    await expect(failing).rejects.toThrow('no hand-over');
    expect([await on.keys.list(on.school), await on.audit(), await on.mails()]).toEqual([[], [], []]);
  });

  it('is refused to people with 100 active keys or 50 created in a day, where replaced and revoked keys do not count', async () => {
    const fill = (count: number, createdAt: Date, revokedAt: Date | null = null) =>
      on.make.rows(
        'api_keys',
        Array.from({ length: count }, () => {
          const ends = { firstFour: 'aaaa', lastFour: 'bbbb' };
          const key = { id: uuidv7(), organizationId: on.school, name: 'old', keyHash: randomBytes(32), ...ends };
          return { ...key, createdAt, revokedAt };
        }),
      );
    await fill(99, new Date(Date.now() - 2 * DAY));
    const { id } = await on.create();
    await expect(on.create()).rejects.toMatchObject({ why: { code: 'too_many_keys' } });
    const next = await on.replace(id);
    await expect(on.create()).rejects.toMatchObject({ why: { code: 'too_many_keys' } });
    await on.keys.revokeOf(on.school, next.id, on.person());
    await on.create();
    await fill(47, new Date(), new Date());
    await on.keys.revokeOf(on.school, (await on.keys.list(on.school)).at(0)!.id, on.person());
    await expect(on.create()).rejects.toMatchObject({ why: { code: 'too_many_new_keys' } });
    // The operator has no such limit.
    await on.keys.create(on.school, { name: 'Operator' });
  });
});
