import { ApiKeys } from '@app/access';
import { loadEnv } from '@app/config';
import { rulesOn } from '../../apps/cli/src/rules.js';
import type { Tables } from '../support/database/tables.js';
import type { EmailPayload } from '@app/jobs';
import { HousekeepingService } from '../../apps/worker/src/housekeeping/housekeeping.service.js';
import { KeyExpiryService } from '../../apps/worker/src/housekeeping/key-expiry.service.js';
import { fixture } from '../support/process/fixture.js';
import { OutboxFixture } from '../support/worker/worker.js';

const DAY_MS = 86_400_000;

const room = await fixture(OutboxFixture.open({ APP_URL: 'https://app.example.org' }));
const keys = (await rulesOn(room.db, loadEnv(room.settings, {}))).get(ApiKeys);

describe('warnings before an API key expires', () => {
  let school: string;
  let owner: Tables['users'];

  beforeEach(async () => {
    school = (await room.make.organization({ name: 'Brighter Days' })).id;
    owner = await room.make.member(school, { role: 'owner' });
    await room.make.member(school, { role: 'tutor' });
  });
  afterEach(async () => {
    await room.clear();
    await room.make.query('TRUNCATE api_keys CASCADE');
  });

  /** A key with this lifetime, of which so many days are left. */
  async function keyWith(daysLeft: number, lifeDays = 90): Promise<string> {
    const { id } = await keys.create(school, { name: 'Sync', expiresAt: { inDays: lifeDays } });
    await pass(id, lifeDays - daysLeft);
    await room.make.query('TRUNCATE outbox');
    return id;
  }

  /** Shifts a key's times into the past. */
  const pass = (id: string, days: number) =>
    room.make.withoutTriggers(`UPDATE api_keys SET created_at = created_at - ${days} * interval '1 day',
      expires_at = expires_at - ${days} * interval '1 day', replaced_at = replaced_at - ${days} * interval '1 day'
      WHERE id = '${id}'`);

  async function warnings() {
    const rows = await room.make.query<{ recipient: string; payload: Buffer }>(
      `SELECT recipient, one AS payload FROM outbox, unnest(array_prepend(payload, gathered)) WITH ORDINALITY g (one, n)
       ORDER BY created_at, id, n`,
    );
    const mails = rows.map(({ recipient, payload }) => ({
      to: recipient,
      ...(JSON.parse(room.vault.open('outbox payloads', payload)) as EmailPayload),
    }));
    return mails.filter(({ notice }) => notice?.kind === 'key_expiring');
  }

  const round = async (settings = {}) => (await room.idleWorker(settings)).get(KeyExpiryService).runOnce();

  it('are mailed 14 and 3 days before, once each', async () => {
    const id = await keyWith(14.01);
    await round();
    expect(await warnings()).toEqual([]);
    for (const [days, expected] of [
      [0.02, 1],
      [10.98, 1],
      [0.02, 2],
      [2.9, 2],
      [1, 2],
    ] as const) {
      await pass(id, days);
      await round();
      await round();
      expect([days, (await warnings()).length]).toEqual([days, expected]);
    }
    const [first] = await warnings();
    expect(first).toMatchObject({
      to: owner.email,
      organizationName: 'Brighter Days',
      joinUrl: `https://app.example.org/o/school-${school}/keys`,
      key: { name: 'Sync', lastUsedAt: null },
    });
    expect(Date.parse(first!.key!.expiresAt!)).toBeGreaterThan(Date.now() + 13.9 * DAY_MS);
    const audited = await room.make.query(
      `SELECT details FROM audit_log WHERE organization_id = $1 AND operation = 'warn of API key expiry' ORDER BY id`,
      [school],
    );
    expect(audited).toEqual([14, 3].map((days) => ({ details: { api_key_id: id, days } })));
  });

  it('are mailed once per key by several concurrent workers', async () => {
    for (let count = 0; count < 8; count++) await keyWith(13 - count);
    const workers = await Promise.all([1, 2, 3].map(() => room.worker()));
    await Promise.all(workers.map((worker) => worker.get(KeyExpiryService).runOnce()));
    expect(await warnings()).toHaveLength(8);
  });

  it('are mailed in a later run if one fails before its commit, only the nearest one', async () => {
    const id = await keyWith(2);
    const failing = await room.worker();
    await room.make.query(`ALTER TABLE audit_log ADD CONSTRAINT planted CHECK (operation NOT LIKE 'warn%') NOT VALID`);
    await failing.get(KeyExpiryService).runOnce();
    expect(room.logged.join('')).toContain('key_expiry_not_mailed');
    expect(await warnings()).toEqual([]);
    await room.make.query('ALTER TABLE audit_log DROP CONSTRAINT planted');
    await round();
    expect(await warnings()).toHaveLength(1);
    expect(await room.make.query('SELECT expiry_warned_days AS days FROM api_keys WHERE id = $1', [id])).toEqual([{ days: 3 }]);
  });

  it('are skipped if the key had less time left when its expiry was set', async () => {
    const short = await keyWith(10, 10);
    const shorter = await keyWith(2, 2);
    const old = await keyWith(60, 60);
    await keys.replace(school, old, { overlap: '7d' });
    await room.make.query('TRUNCATE outbox');
    await round();
    expect(await warnings()).toEqual([]);
    for (const id of [short, old, shorter]) await pass(id, id === short ? 7.5 : id === old ? 4.5 : 1);
    await round();
    expect(await warnings()).toHaveLength(2);
  });

  it('are not mailed for keys that were revoked, have expired or never expire', async () => {
    const revoked = await keyWith(10);
    await keys.revokeOf(school, revoked);
    await keyWith(-1);
    await keys.create(school, { name: 'For ever' });
    await round();
    expect(await warnings()).toEqual([]);
  });

  it('wait until there is a mail server', async () => {
    await keyWith(10);
    await round({ SMTP_URL: '' });
    expect(await warnings()).toEqual([]);
    await round();
    expect(await warnings()).toHaveLength(1);
  });

  it('are part of housekeeping, which also deletes expired handovers of keys', async () => {
    const id = await keyWith(10);
    const fresh = (await keys.create(school, { name: 'Fresh' })).id;
    for (const [key, expires] of [
      [id, 'now()'],
      [fresh, `now() + interval '1 minute'`],
    ] as const) {
      await room.make.query(`INSERT INTO api_key_handovers (api_key_id, organization_id, sealed, expires_at) VALUES ($1, $2, '\\x00', ${expires})`, [
        key,
        school,
      ]);
    }
    await (await room.idleWorker()).get(HousekeepingService).runOnce();
    expect(await warnings()).toHaveLength(1);
    expect(await room.make.query('SELECT api_key_id AS id FROM api_key_handovers')).toEqual([{ id: fresh }]);
  });
});
