import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeys, type Overlap, OVERLAPS } from '@app/access';
import { loadEnv } from '@app/config';
import { connect, Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { DAY, HOUR, KeyChanges } from '../../support/data/key-changes.js';
import { fixture } from '../../support/process/fixture.js';

/** How a key of another organization, or none, is refused. */
const UNKNOWN = { why: { kind: 'not_found' } };

const on = await fixture(KeyChanges.open());
beforeEach(() => on.reset());

describe('a key that is replaced', () => {
  it.each(Object.keys(OVERLAPS) as Overlap[])('works for the overlap (%s) next to a new key with its name and scopes', async (overlap) => {
    const old = await on.create({ name: 'Sync', scopes: ['read', 'write'] });
    const before = Date.now();
    const made = await on.replace(old.id, overlap);
    const [ended, next] = [await on.row(old.id), await on.row(made.id)];
    expect(next).toMatchObject({ name: 'Sync', scopes: ['read', 'write'], expiresAt: null, createdBy: on.owner.id });
    expect(ended).toMatchObject({ replacedBy: made.id, revokedAt: null });
    const overlapMs = ended.expiresAt!.getTime() - ended.replacedAt!.getTime();
    expect(overlapMs).toBe(OVERLAPS[overlap] * HOUR);
    expect(ended.replacedAt!.getTime()).toBeGreaterThan(before - 60_000);
    expect(await on.statusOf(made.key)).toBe(200);
    expect(await on.statusOf(old.key)).toBe(overlap === 'now' ? 401 : 200);
  });

  it('never outlives its own expiry', async () => {
    const old = await on.create({ expiresAt: new Date(Date.now() + 2 * HOUR) });
    await on.replace(old.id, '30d');
    expect((await on.row(old.id)).expiresAt).toEqual(old.expiresAt);
  });

  it('passes its original lifetime on to the new key', async () => {
    const old = await on.create({ expiresAt: { inDays: 90 } });
    await on.make.withoutTriggers(`UPDATE api_keys SET created_at = created_at - interval '80 days',
      expires_at = expires_at - interval '80 days' WHERE id = '${old.id}'`);
    const made = await on.replace(old.id);
    const { createdAt, expiresAt } = await on.row(made.id);
    expect(Math.round((expiresAt!.getTime() - createdAt.getTime()) / DAY)).toBe(90);
  });

  it('passes on access to the platform’s blog only when the operator replaces it', async () => {
    const old = await on.keys.create(on.school, { name: 'Platform', platformBlog: true });
    const byPerson = await on.replace(old.id);
    expect((await on.row(byPerson.id)).platformBlog).toBe(false);
    const again = await on.keys.create(on.school, { name: 'Platform', platformBlog: true });
    const byOperator = await on.keys.replace(on.school, again.id, { overlap: 'now' });
    expect((await on.row(byOperator.id)).platformBlog).toBe(true);
  });

  it('must be active and belong to the organization, and is replaced once per form', async () => {
    const [expired, revoked, foreign] = [await on.create(), await on.create(), await on.create()];
    await on.make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
    await on.keys.revokeOf(on.school, revoked.id);
    for (const { id } of [expired, revoked]) {
      await expect(on.replace(id)).rejects.toMatchObject({ why: { kind: 'invalid_state', allowed: ['active'] } });
    }
    const other = (await on.make.organization()).id;
    const another = on.keys.replace(other, foreign.id, { overlap: 'now' }, on.person());
    await expect(another).rejects.toMatchObject(UNKNOWN);
    const unknown = on.keys.replace(on.school, uuidv7(), { overlap: 'now' }, on.person());
    await expect(unknown).rejects.toMatchObject(UNKNOWN);
    const before = (await on.keys.list(on.school)).length;
    const wish = { overlap: 'now', formToken: randomUUID() } as const;
    const sent = await Promise.allSettled([1, 2, 3].map(() => on.keys.replace(on.school, foreign.id, wish, on.person())));
    const made = sent.filter((result) => result.status === 'fulfilled');
    expect(made).toHaveLength(1);
    const { replacedBy } = await on.row(foreign.id);
    expect(made[0]!.value.id).toBe(replacedBy);
    for (const result of sent) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ id: replacedBy });
    }
    expect((await on.keys.list(on.school)).length).toBe(before + 1);
  });

  it('is named in the audit row with the new key', async () => {
    const old = await on.create();
    const made = await on.replace(old.id, 'now');
    const { expiresAt } = await on.row(old.id);
    expect((await on.audit()).at(-1)).toMatchObject({
      user_id: on.owner.id,
      operation: 'replace API key',
      details: { api_key_id: old.id, replaced_by: made.id, expires_at: expiresAt!.toISOString() },
    });
  });
});

describe('a key that is revoked', () => {
  it('stops working at once, and revoking it again changes nothing', async () => {
    const { id, key } = await on.create();
    expect(await on.statusOf(key)).toBe(200);
    expect(await on.keys.revokeOf(on.school, id, on.person())).toMatchObject({ id, status: 'revoked' });
    expect(await on.statusOf(key)).toBe(401);
    const { revokedAt } = await on.row(id);
    const before = [await on.audit(), await on.mails()];
    expect(await on.keys.revokeOf(on.school, id, on.person())).toMatchObject({ id, status: 'revoked' });
    expect((await on.row(id)).revokedAt).toEqual(revokedAt);
    expect([await on.audit(), await on.mails()]).toEqual(before);
    expect(before[0]!.at(-1)).toMatchObject({ operation: 'revoke API key', details: { api_key_id: id } });
  });

  it('cannot be revoked by another organization', async () => {
    const { id, key } = await on.create();
    const other = (await on.make.organization()).id;
    await expect(on.keys.revokeOf(other, id, on.person())).rejects.toMatchObject(UNKNOWN);
    await expect(on.keys.revokeOf(on.school, uuidv7(), on.person())).rejects.toMatchObject(UNKNOWN);
    expect(await on.keys.get(other, id)).toBeNull();
    expect(await on.statusOf(key)).toBe(200);
  });
});

it('lists active keys first, masked, with creator and status', async () => {
  const [expired, revoked, plain, used] = [await on.create(), await on.create(), await on.create(), await on.create()];
  await on.make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
  await on.keys.revokeOf(on.school, revoked.id);
  await on.make.query('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [used.id]);
  const operators = await on.keys.create(on.school, { name: 'Operator’s' });
  const listed = await on.keys.list(on.school);
  expect(listed.map(({ id, status }) => [id, status])).toEqual([
    [operators.id, 'active'],
    [used.id, 'active'],
    [plain.id, 'active'],
    [revoked.id, 'revoked'],
    [expired.id, 'expired'],
  ]);
  expect(listed[0]).toMatchObject({ createdBy: null, creator: null });
  expect(listed[2]).toMatchObject({
    createdBy: on.owner.id,
    creator: 'Olive Owner',
    display: `tk_live_${plain.key.slice(8, 12)}…${plain.key.slice(-4)}`,
    lastUsedAt: null,
  });
  expect(await on.keys.get(on.school, plain.id)).toEqual(listed[2]);
  expect((await on.keys.list(on.school, 2, 1)).map(({ id }) => id)).toEqual([used.id, plain.id]);
});

describe('mails', () => {
  it('go to every accepted owner and admin and to nobody else', async () => {
    const admin = await on.make.member(on.school, { role: 'admin' });
    await on.make.member(on.school, { role: 'tutor' });
    await on.make.member(on.school, { role: 'admin', status: 'pending', suppliedEmail: 'pending@example.org' });
    await on.make.member(on.school, { role: 'owner', status: 'archived' });
    await on.make.member(on.school, { role: 'owner', user: { placeholderEmail: true } });
    await on.make.member((await on.make.organization()).id, { role: 'owner' });
    const old = await on.create({ name: 'Sync', scopes: ['read'] });
    const made = await on.replace(old.id, '1h');
    await on.keys.revokeOf(on.school, made.id);
    const sent = await on.mails();
    const everybody = [admin.email, on.owner.email].sort();
    for (const kind of ['key_created', 'key_replaced', 'key_revoked']) {
      const to = sent.filter((mail) => mail.kind === kind).map((mail) => mail.to);
      expect([kind, to.sort()]).toEqual([kind, everybody]);
    }
    expect(sent).toHaveLength(6);
    const [masked, next] = [old, made].map(({ key }) => `tk_live_${key.slice(8, 12)}…${key.slice(-4)}`);
    expect(sent[0]!.payload).toMatchObject({
      organizationName: 'Brighter Days',
      joinUrl: `https://app.example.org/o/school-${on.school}/keys`,
      key: { name: 'Sync', display: masked, by: 'Olive Owner', scopes: ['read'], expiresAt: null },
    });
    const { expiresAt } = await on.row(old.id);
    expect(sent[1]!.payload.key).toMatchObject({ display: masked, successor: next, expiresAt: expiresAt!.toISOString() });
    expect(sent[2]!.payload.key).toMatchObject({ display: next, by: null });
  });

  it('are not queued without SMTP_URL or with another ENCRYPTION_KEY', async () => {
    const dataSource = await connect({ url: on.api.database.ownerUrl, poolSize: 2, applicationName: 'tutoring tests' });
    const incomplete: Record<string, string>[] = [{ SMTP_URL: 'smtp://127.0.0.1:1' }, { ENCRYPTION_KEY: randomBytes(32).toString('hex') }];
    for (const settings of incomplete) {
      const bare = (await rulesOn(new Database(dataSource), loadEnv(settings, {}))).get(ApiKeys);
      expect(await on.statusOf((await bare.create(on.school, { name: 'Bare' })).key)).toBe(200);
    }
    expect(await on.mails()).toEqual([]);
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
  ])('rejects %s', async (change, message) => {
    const { id } = await on.create({ expiresAt: { inDays: 30 } });
    await on.keys.revokeOf(on.school, id);
    await expect(on.make.query(`UPDATE api_keys SET ${change} WHERE id = $1`, [id])).rejects.toThrow(message);
  });
});
