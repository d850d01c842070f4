import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Invites } from '@app/people';
import { loadEnv, Vault } from '@app/config';
import { PrivateStorage } from '@app/storage';
import { ErasureService } from '../../apps/worker/src/housekeeping/erasure.service.js';
import { HousekeepingService } from '../../apps/worker/src/housekeeping/housekeeping.service.js';
import { fixture } from '../support/process/fixture.js';
import { OutboxFixture } from '../support/worker/worker.js';

const DAY_MS = 86_400_000;

const room = await fixture(OutboxFixture.open());

describe('housekeeping', () => {
  afterEach(() => room.clear());

  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
  const count = async (table: string) => (await room.make.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0]!.n;

  async function fill(): Promise<void> {
    const { organizationId } = room;
    await room.queue(['sent@example.org', 'fresh@example.org', 'dead@example.org', 'waiting@example.org']);
    const finish = (who: string, status: string, days: number) =>
      room.make.query('UPDATE outbox SET status = $1, finished_at = $2 WHERE recipient = $3', [status, daysAgo(days), `${who}@example.org`]);
    await finish('sent', 'sent', 90.01);
    await finish('fresh', 'sent', 89.99);
    await finish('dead', 'dead', 90.01);
    await room.make.query(`UPDATE outbox SET created_at = $1 WHERE recipient LIKE 'waiting%'`, [daysAgo(99)]);
    await room.invite({ expiresAt: daysAgo(30.01) });
    await room.invite({ expiresAt: daysAgo(29.99) });
    await room.invite({ expiresAt: null, standing: true, sealed: randomBytes(40), createdAt: daysAgo(999) });
    await room.make.rows(
      'idempotency_keys',
      [-0.01, 0.01].map((days) => ({
        organizationId,
        operation: 'POST /v1/invites',
        key: `key ${days}`,
        requestHash: randomBytes(32),
        status: 201,
        answer: randomBytes(40),
        createdAt: daysAgo(days + 1),
        expiresAt: daysAgo(days),
      })),
    );
  }

  it('erases people once the days are over, but nobody who is held or has come back', async () => {
    const { organizationId, make } = room;
    const dataDir = mkdtempSync(join(tmpdir(), 'erased-'));
    const leave = async (firstName: string, days: number) => {
      const person = await make.student(organizationId, { user: { firstName }, status: 'archived', acceptedAt: daysAgo(99) });
      await make.row('erasures', { organizationId, personId: person.id, dueAt: daysAgo(days) });
      return person;
    };
    const [due, early, held, back] = [await leave('Due', 0.01), await leave('Early', -0.01), await leave('Held', 1), await leave('Back', 1)];
    await make.row('holds', { organizationId, userId: held.id, reason: 'A dispute' });
    await make.query(`UPDATE members SET status = 'pending' WHERE user_id = $1`, [back.id]);
    const worker = await room.worker({ DATA_DIR: dataDir });
    await worker.get(ErasureService).runOnce();
    const left = await make.query<{ id: string }>('SELECT id FROM users WHERE id = ANY ($1) ORDER BY id', [[due.id, early.id, held.id, back.id]]);
    expect(left.map(({ id }) => id)).toEqual([early.id, held.id, back.id].sort());
    const asked = await make.query<{ id: string }>('SELECT person_id AS id FROM erasures ORDER BY 1');
    expect(asked.map(({ id }) => id)).toEqual([early.id, held.id].sort());
    const audited = await make.query(`SELECT details ->> 'gone' AS gone, request_id FROM audit_log WHERE operation = 'erase person'`);
    expect(audited).toEqual([{ gone: 'true', request_id: 'worker' }]);
    expect(readdirSync(join(dataDir, 'private', 'erased'))).toEqual([organizationId]);
    await make.query('DELETE FROM holds; DELETE FROM erasures; DELETE FROM audit_log');
    rmSync(dataDir, { recursive: true });
  });

  it('lets booking requests expire that nobody has answered', async () => {
    const ask = (status: 'pending' | 'declined', days: number) =>
      room.make.row('booking_requests', {
        organizationId: room.organizationId,
        status,
        studentDisplayName: `${status} ${days}`,
        updatedAt: daysAgo(days),
      });
    await Promise.all([ask('pending', 60.01), ask('pending', 59.99), ask('declined', 99)]);
    const worker = await room.worker();
    expect(await worker.get(HousekeepingService).expireRequests()).toBe(1);
    expect(await room.make.query('SELECT status, student_display_name AS who FROM booking_requests ORDER BY 2')).toEqual([
      { status: 'declined', who: 'declined 99' },
      { status: 'pending', who: 'pending 59.99' },
      { status: 'expired', who: 'pending 60.01' },
    ]);
  });

  it('deletes documents that no file has named for a day, with their bytes', async () => {
    const { organizationId } = room;
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-private-'));
    const worker = await room.worker({ DATA_DIR: folder });
    const document = async (name: string, days: number) => {
      const { id } = await room.make.row('uploads', { organizationId, name, createdAt: daysAgo(days) });
      mkdirSync(join(folder, 'private', organizationId), { recursive: true });
      writeFileSync(join(folder, 'private', organizationId, id), name);
      return id;
    };
    const [fresh, named] = [await document('fresh', 0.99), await document('named', 9)];
    const file = await room.make.row('files', { organizationId, scope: 'org', resourceType: 'file', uploadId: named });
    for (let number = 0; number < 60; number++) await document('unnamed', 1.01);
    const kept = () => readdirSync(join(folder, 'private', organizationId)).sort();
    expect([await worker.get(HousekeepingService).deleteUploads(), kept(), await count('uploads')]).toEqual([60, [fresh, named].sort(), 2]);
    await room.make.query('DELETE FROM files WHERE id = $1', [file.id]);
    // Bytes that cannot be deleted are tried again.
    const remove = vi.spyOn(worker.get(PrivateStorage), 'remove').mockRejectedValueOnce(new Error('away'));
    await expect(worker.get(HousekeepingService).deleteUploads()).rejects.toThrow('away');
    remove.mockRestore();
    expect([await worker.get(HousekeepingService).deleteUploads(), kept(), await count('uploads')]).toEqual([1, [fresh], 1]);
    rmSync(folder, { recursive: true });
  });

  it('estimates once an hour which organizations fill the database', async () => {
    const worker = await room.worker();
    const [large, small] = [await room.make.organization(), await room.make.organization()];
    const leads = (organizationId: string, n: number) => Array.from({ length: n }, () => ({ organizationId, name: 'n'.repeat(100) }));
    await room.make.rows('leads', [...leads(large.id, 200), ...leads(small.id, 20)]);
    await room.make.query(`INSERT INTO worker_heartbeats (worker_id, seen_at) VALUES ('gone', now() - interval '1 minute'), ('able', now())`);
    const sampled = () =>
      room.make.query<{ worker_id: string; bytes: Record<string, number>; at: string }>(
        'SELECT worker_id, bytes, sampled_at::text AS at FROM worker_heartbeats WHERE sampled_at IS NOT NULL',
      );
    await worker.get(HousekeepingService).sampleBytes();
    const [first, ...others] = await sampled();
    expect([first!.worker_id, others]).toEqual(['able', []]);
    expect(first!.bytes[large.id]).toBeGreaterThan(20_000);
    expect(first!.bytes[small.id]).toBeGreaterThan(2_000);
    expect(first!.bytes[small.id]).toBeLessThan(first!.bytes[large.id]! / 2);
    await worker.get(HousekeepingService).sampleBytes();
    expect(await sampled()).toEqual([first]);
  });

  it('deletes portal sessions that have ended, expired password links and sign-in attempts older than a day', async () => {
    const { id } = await room.make.user();
    const make = (statement: string) => room.make.query(statement, [id]);
    await make(`INSERT INTO portal_sessions (id, secret_hash, user_id, created_at, last_seen_at, user_agent, network)
      SELECT gen_random_uuid(), sha256(n::text::bytea), $1, now() - made * interval '1 day', now() - seen * interval '1 day',
        '', '' FROM (VALUES (1, 4, 2.99), (2, 4, 3), (3, 29.99, 0), (4, 30, 0)) s (n, made, seen)`);
    await make(`INSERT INTO password_links SELECT sha256(n::text::bytea), $1, 'a', now() + n * interval '1 minute'
      FROM (VALUES (1), (-1)) s (n)`);
    await room.make.query(`INSERT INTO sign_in_attempts SELECT sha256('a'), now() - hours * interval '1 hour', 1
      FROM (VALUES (23), (25)) s (hours)`);
    const worker = await room.worker();
    const purged = await worker.get(HousekeepingService).purge();
    expect(purged).toMatchObject({ portal_sessions: 2, sign_in_attempts: 1, password_links: 1 });
    for (const [table, left] of [
      ['portal_sessions', 2],
      ['sign_in_attempts', 1],
      ['password_links', 1],
    ] as const) {
      expect([table, await count(table)]).toEqual([table, left]);
      await room.make.query(`DELETE FROM ${table}`);
    }
  });

  it('deletes only expired answers, messages finished 90 days ago and invites that expired 30 days ago', async () => {
    await fill();
    const worker = await room.worker();
    expect(await worker.get(HousekeepingService).purge()).toMatchObject({ idempotency_keys: 1, outbox: 2, invites: 1 });
    const left = await room.rows();
    expect(left.map(({ recipient }) => recipient).sort()).toEqual(['fresh@example.org', 'waiting@example.org']);
    expect(left.every(({ payload }) => payload !== null)).toBe(true);
    expect(await count('invites')).toBe(2);
    expect(await room.make.query('SELECT key FROM idempotency_keys')).toEqual([{ key: 'key -0.01' }]);
    const again = await worker.get(HousekeepingService).purge();
    expect(Object.values(again).every((rows) => rows === 0)).toBe(true);
  });

  it('keeps audit rows for years, of refused writes and sign-ins for months, and networks as long as these', async () => {
    const { organizationId } = room;
    const add = (name: string, days: number, more: Record<string, unknown>) =>
      room.make.row('audit_log', { organizationId, operation: 'join', requestId: name, status: 200, result: 'done', network: '192.0.2.0/24', createdAt: daysAgo(days), ...more }); // prettier-ignore
    await add('old', 2_557.1, {});
    await add('kept', 2_556.9, {});
    await add('refused', 30.1, { status: 403 });
    await add('refused lately', 29.9, { status: 403 });
    await add('signed in', 90.1, { operation: 'sign in' });
    await add('signed in lately', 89.9, { operation: 'sign in' });
    const { id: apiKeyId } = await room.make.row('api_keys', {
      organizationId,
      name: 'k',
      keyHash: randomBytes(32),
      firstFour: 'abcd',
      lastFour: 'abcd',
    });
    for (const days of [89.9, 90.1]) {
      await room.make.row('refusals', { organizationId, apiKeyId, operation: 'POST /v1/invites', status: 403, minute: daysAgo(days) });
    }
    const short = await room.worker({ REFUSAL_COUNT_DAYS: '91' });
    expect(await short.get(HousekeepingService).purge()).toMatchObject({ refusals: 0 });
    const worker = await room.worker();
    await worker.get(HousekeepingService).purge();
    const left = await room.make.query<{ request_id: string; network: string | null }>('SELECT request_id, network FROM audit_log');
    expect(left.map(({ request_id: name, network }) => `${name}: ${network}`).sort()).toEqual([
      'kept: null',
      'refused lately: 192.0.2.0/24',
      'signed in lately: 192.0.2.0/24',
    ]);
    expect(await count('refusals')).toBe(1);
    await room.make.query('TRUNCATE audit_log, refusals');
  });

  it('keeps 30 days of requests, and at most the newest 100,000 of an organization', async () => {
    const [{ id: school }, { id: quiet }] = [await room.make.organization(), await room.make.organization()];
    const fillLog = (organization: string, rows: number, age: string) =>
      room.make.query(
        `INSERT INTO request_log (id, organization_id, api_key_id, method, route, status, duration_ms, request_id, created_at)
         SELECT gen_random_uuid(), $1, $1, 'GET', '/v1/ping', 200, 1, 'r', now() - $3::interval - n * interval '1 second'
         FROM generate_series(1, $2) n`,
        [organization, rows, age],
      );
    await fillLog(school, 100_040, '1 minute');
    await fillLog(quiet, 10, '29 days 23 hours');
    await fillLog(quiet, 25_000, '30 days');
    const worker = await room.worker();
    expect(await worker.get(HousekeepingService).trimRequestLog()).toBe(25_040);
    const rowsOf = (organization: string) =>
      room.make.query('SELECT count(*)::int AS rows FROM request_log WHERE organization_id = $1', [organization]);
    expect(await rowsOf(school)).toEqual([{ rows: 100_000 }]);
    expect(await rowsOf(quiet)).toEqual([{ rows: 10 }]);
  });

  it('deletes more rows than one statement does, with two workers at once', async () => {
    const rows = Array.from({ length: 500 }, () => ({
      organizationId: room.organizationId,
      topic: 'email' as const,
      kind: 'organization_invite',
      recipient: 'old@example.org',
      status: 'sent' as const,
      finishedAt: daysAgo(91),
    }));
    for (let chunk = 0; chunk < 24; chunk++) {
      await room.make.rows('outbox', rows);
    }
    const workers = [await room.worker(), await room.worker()];
    const purged = await Promise.all(workers.map((worker) => worker.get(HousekeepingService).purge()));
    expect(purged[0]!.outbox! + purged[1]!.outbox!).toBe(12_000);
    expect(await count('outbox')).toBe(0);
  });

  it('creates missing standing codes of organizations once', async () => {
    const { id } = await room.make.organization();
    const workers = [await room.worker(), await room.worker()];
    await Promise.all(workers.map((worker) => worker.get(HousekeepingService).runOnce()));
    const standing = () =>
      room.make.query<{ id: string; role: string }>('SELECT id, role FROM invites WHERE organization_id = $1 AND standing', [id]);
    const made = await standing();
    expect(made.map(({ role }) => role).sort()).toEqual(['student', 'tutor']);
    const env = loadEnv(room.settings, {});
    const codes = await new Invites(room.db, env, new Vault(env)).permanentCodes({ organizationId: id });
    expect(codes.student).toMatch(/^[2-9A-Z]{12}$/);
    await workers[0]!.get(HousekeepingService).runOnce();
    expect((await standing()).map((invite) => invite.id).sort()).toEqual(made.map((invite) => invite.id).sort());
  });
});
