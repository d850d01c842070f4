import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, HttpCode, Post } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import supertest from 'supertest';
import { Outbox } from '@app/jobs';
import { CurrentCaller, RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import { ApiError } from '../../../apps/api/src/http/errors/api-error.js';
import { TestApi } from '../../support/http/api.js';
import { buildOnce } from '../../support/http/api-process.js';
import { reached } from '../../support/faults/promise.js';
import { Random } from '../../support/data/random.js';
import { TestRedis } from '../../support/worker/redis.js';
import { TestSmtp } from '../../support/worker/smtp.js';
import { OutboxFixture } from '../../support/worker/worker.js';
import { fixture } from '../../support/process/fixture.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';

/**
 * Promise 8: no email is lost, and duplicates are bounded. Sends 1,000 invites through the API and kills the worker 100
 * times at random moments while it sends them. Most leases are expired by shifting times; a few are waited for. Takes about
 * seven minutes.
 */
const INVITES = Number(process.env.INVITES ?? 1_000);
const KILLS = Number(process.env.KILLS ?? 100);
/** Kills that must find leased mails for the run to prove anything. */
const LANDED = KILLS * 0.6;
/** Killed workers whose leases expire in real time. */
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** Queues a mail and then fails. */
@Controller('v1/planted')
class PlantedController {
  constructor(private readonly module: ModuleRef) {}

  @Post()
  @RequireScopes('accounts:write')
  @HttpCode(201)
  async create(@CurrentCaller() { organizationId }: Caller): Promise<void> {
    const from = { organizationId, organization: { name: 'A', timeZone: 'UTC' } };
    const link = { url: 'https://app.example/join/x' };
    await this.module
      .get(Outbox, { strict: false })
      .addEmails(from, [{ kind: 'organization_invite', to: 'rolled-back@example.org', firstName: null, role: 'student', link }]);
    throw new ApiError('invalid_state', 'Rolled back.');
  }
}

await buildOnce();
const smtp = await fixture(TestSmtp.start());
const room = await fixture(OutboxFixture.open({ SMTP_URL: smtp.url }));
const api = await fixture(TestApi.start(room.settings, room.database, [PlantedController]));
const key = await api.key(room.organizationId, { scopes: ['accounts:write'] });

describe('kill -9', () => {
  const post = (path: string, body?: object) => supertest(api.server).post(path).set('Authorization', `Token token=${key}`).send(body);

  it(`of the worker, ${KILLS} times during ${INVITES} invites loses none and sends at most one twice per kill`, async () => {
    process.stdout.write(`worker-kills: seed ${SEED}\n`);
    const random = new Random(SEED);
    // Real servers take a moment: this opens a window between acceptance and commit.
    smtp.atMessage = () => ({ waitMs: random.integer(15) });
    let invited = 0;
    let rolledBack = 0;
    let landed = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const worker = await WorkerProcess.start(room.settings);
      const upTo = Math.round((INVITES * (kill + 1)) / KILLS);
      const writes: Promise<void>[] = [];
      for (; invited < upTo; invited++) {
        const email = `invited${invited}@example.org`;
        writes.push(post('/v1/invites', { scope: 'organization', email, role: 'student' }).then(({ status }) => expect(status).toBe(201)));
      }
      writes.push(post('/v1/planted').then(({ status }) => expect(status).toBe(409)));
      rolledBack++;
      // Kills at a random moment while it sends.
      const sent = smtp.received.length;
      await Promise.race([Promise.all(writes), untilSends(sent + random.integer(8))]);
      await sleep(random.integer(30));
      await worker.kill();
      await Promise.all(writes);
      const held = await room.make.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM outbox WHERE leased_by LIKE $1 AND status IN ('queued', 'failed')`,
        [worker.leases],
      );
      if (held[0]!.n > 0) landed++;
      await room.pass('2 minutes');
    }
    const last = await WorkerProcess.start(room.settings);
    await vi.waitFor(async () => expect(await room.tally()).toEqual({ sent: INVITES }), { timeout: 120_000, interval: 250 });
    await last.stop();

    const times = new Map<string, Set<string>>();
    for (const { to, headers } of smtp.received) times.set(to, (times.get(to) ?? new Set()).add(headers['message-id']!));
    const duplicates = smtp.received.length - times.size;
    reached(
      8,
      `${INVITES - times.size} of ${INVITES} lost, ${duplicates} duplicates in ${KILLS} kills (${landed} with mails in hand), ` +
        `${rolledBack} rolled back`,
      SEED,
    );
    expect(landed).toBeGreaterThanOrEqual(LANDED);
    expect([...times.keys()].sort()).toEqual(Array.from({ length: INVITES }, (_, index) => `invited${index}@example.org`).sort());
    expect(duplicates).toBeLessThanOrEqual(landed);
    for (const [address, ids] of times) expect(ids.size, address).toBe(1);
    expect(smtp.asked).not.toContain('rolled-back@example.org');
  }, 1_800_000);

  async function untilSends(count: number): Promise<void> {
    for (let waited = 0; smtp.received.length < count && waited < 2_000; waited += 5) await sleep(5);
  }
});

describe.each(['timer', 'redis'])('the mails of a killed worker (%s)', (mode) => {
  it('go out within a minute, once their lease expires', async () => {
    const smtp = await TestSmtp.start();
    const redis = mode === 'redis' ? await TestRedis.start() : null;
    const room = await OutboxFixture.open({ SMTP_URL: smtp.url, ...(redis && { REDIS_URL: redis.url }) });
    const waits: { fromKill: number; fromLease: number }[] = [];
    let worker = await WorkerProcess.start(room.settings);
    try {
      for (let round = 0; round < ROUNDS; round++) {
        // The server stalls, so that every lane that one organization may have holds a mail whose text is not sent yet.
        smtp.atRecipient = () => ({ waitMs: 30_000 });
        await room.queue(Array.from({ length: 50 }, (_, index) => `round${round}-${index}@example.org`));
        await vi.waitFor(async () => expect(await room.rows('leased_by IS NOT NULL')).toHaveLength(8), 20_000);
        // Long enough for leases to be renewed.
        await sleep(7_000);
        await worker.kill();
        const killed = Date.now();
        smtp.atRecipient = () => undefined;
        const [lease] = await room.make.query<{ until: Date }>(`SELECT max(leased_until) AS until FROM outbox WHERE status IN ('queued', 'failed')`);
        worker = await WorkerProcess.start(room.settings);
        await vi.waitFor(async () => expect(Object.keys(await room.tally())).toEqual(['sent']), 120_000);
        const last = Math.max(...smtp.received.map(({ at }) => at));
        waits.push({ fromKill: last - killed, fromLease: last - lease!.until.getTime() });
      }
      const worst = (of: keyof (typeof waits)[number]) => Math.max(...waits.map((wait) => wait[of])) / 1000;
      reached(
        8,
        `${mode}: the last mail of ${ROUNDS} killed workers out ${worst('fromKill').toFixed(1)} s after the kill, ` +
          `${worst('fromLease').toFixed(1)} s after its lease`,
      );
      expect(worst('fromKill')).toBeLessThanOrEqual(60);
      expect(worst('fromLease')).toBeLessThanOrEqual(10);
    } finally {
      await worker.kill();
      await room.stop();
      await redis?.stop();
      await smtp.stop();
    }
  });
});
