import { setTimeout as sleep } from 'node:timers/promises';
import { Controller } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import supertest from 'supertest';
import { ApiKeys } from '@app/access';
import { loadEnv } from '@app/config';
import { Outbox } from '@app/jobs';
import { CurrentCaller, RequireScopes } from '../../../apps/api/src/http/auth/access.decorators.js';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import { ApiError } from '../../../apps/api/src/http/errors/api-error.js';
import { Documented } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { Post } from '../../../apps/api/src/http/writes/write-methods.js';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { JITTER, PAUSES_MINUTES, TRIES } from '../../../apps/worker/src/outbox/schedule.js';
import { percentile } from '../../support/data/percentile.js';
import { Random } from '../../support/data/random.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess } from '../../support/http/api-process.js';
import { results, runCli } from '../../support/process/cli.js';
import { inTest } from '../../support/process/fixture.js';
import { Mailroom, numbered } from '../../support/worker/mailroom.js';

/** Promises 8 to 11: what can happen to workers, and to what they need. All of them take a quarter of an hour. */
const INVITES = Number(process.env.INVITES ?? 1_000);
const KILLS = Number(process.env.KILLS ?? 100);
const MAILS = Number(process.env.MAILS ?? 5_000);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const OUTAGE_MS = Number(process.env.OUTAGE_MS ?? 60_000);
/** Longer than a mail's lease. */
const PAUSE_MS = 30_000;
/** A mail whose connection broke in a pause waits for the first retry (at most 72 s), then for the next poll of the outbox (5 s). */
const TAKEN_UP_MS = 150_000;
/** Noise (ms). A request that waited for Redis would take much longer: the full timeout. */
const NOISE_MS = 50;
const SENT = /"topic":"email","sent":(\d+)/g;
const SEED = seedOf();
const random = new Random(SEED);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

/** Queues a mail and then fails. */
@Controller('v1/planted')
class PlantedController {
  constructor(private readonly module: ModuleRef) {}

  @Post('')
  @RequireScopes('accounts:write')
  @Documented({ id: 'planted', summary: 'Queues a mail, and fails', answer: null })
  async create(@CurrentCaller() { organizationId }: Caller): Promise<void> {
    const from = { organizationId, organization: { name: 'A', timeZone: 'UTC' } };
    const mail = { kind: 'organization_invite' as const, to: 'rolled-back@example.org', firstName: null, role: 'student' as const };
    await this.module.get(Outbox, { strict: false }).addEmails(from, [{ ...mail, link: { url: 'https://app.example/join/x' } }]);
    throw ApiError.notFound();
  }
}

it(`a worker killed ${KILLS} times during ${INVITES} invites loses none and sends at most one twice per kill`, async () => {
  const room = await inTest(Mailroom.open());
  const { smtp, outbox } = room;
  const api = await inTest(TestApi.start(outbox.settings, outbox.database, [PlantedController]));
  const key = await api.key(outbox.organizationId, { scopes: ['accounts:write'] });
  const post = (path: string, body?: object) => supertest(api.server).post(path).set('Authorization', `Token token=${key}`).send(body);
  // Real servers take a moment: this opens a window between acceptance and commit.
  smtp.atMessage = () => ({ waitMs: random.integer(15) });
  const invited = numbered('invited', INVITES);
  let landed = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const worker = await room.hire();
    const [from, to] = [kill, kill + 1].map((count) => Math.round((INVITES * count) / KILLS));
    const emails = invited.slice(from, to);
    const all = Promise.all([...emails.map((email) => post('/v1/invites', { scope: 'organization', email, role: 'student' })), post('/v1/planted')]);
    // Kills at a random moment while it sends.
    const sent = smtp.received.length + random.integer(8);
    await Promise.race([all, vi.waitUntil(() => smtp.received.length >= sent, { timeout: 2_000, interval: 5 }).catch(() => undefined)]);
    await sleep(random.integer(30));
    await worker.kill();
    expect((await all).map(({ status }) => status)).toEqual([...emails.map(() => 201), 404]);
    if ((await room.leasedBy(worker)) > 0) landed++;
    await outbox.pass('2 minutes');
  }
  await room.hire();
  await room.becomes({ sent: INVITES }, 120_000);
  const { lost, doubled, wrong } = room.arrived(invited);
  reached(8, `${lost} of ${INVITES} lost, ${doubled} duplicates in ${KILLS} kills (${landed} with mails in hand), ${KILLS} rolled back`, SEED);
  // Otherwise nothing was proven.
  expect(landed).toBeGreaterThanOrEqual(KILLS * 0.6);
  expect({ lost, wrong }).toEqual({ lost: 0, wrong: [] });
  expect(doubled).toBeLessThanOrEqual(landed);
  expect(smtp.asked).not.toContain('rolled-back@example.org');
});

it.each(['timer', 'redis'])('the mails of a killed worker go out within a minute, once their lease expires (%s)', async (mode) => {
  const room = await inTest(Mailroom.open(mode === 'redis'));
  const { smtp, outbox } = room;
  const waits: { fromKill: number; fromLease: number }[] = [];
  let worker = await room.hire();
  for (let round = 0; round < ROUNDS; round++) {
    // The server stalls, so that every lane that one organization may have holds a mail whose text is not sent yet.
    smtp.atRecipient = () => ({ waitMs: 30_000 });
    await room.queue(`round${round}-`, 50);
    await vi.waitFor(async () => expect(await outbox.rows('leased_by IS NOT NULL')).toHaveLength(8), 20_000);
    // Long enough for leases to be renewed.
    await sleep(7_000);
    await worker.kill();
    const killed = Date.now();
    smtp.atRecipient = () => undefined;
    const [lease] = await outbox.make.query<{ until: Date }>(`SELECT max(leased_until) AS until FROM outbox WHERE status IN ('queued', 'failed')`);
    worker = await room.hire();
    await room.becomes({ sent: 50 * (round + 1) }, 120_000);
    const last = Math.max(...smtp.received.map(({ at }) => at));
    waits.push({ fromKill: last - killed, fromLease: last - lease!.until.getTime() });
  }
  const worst = (of: keyof (typeof waits)[number]) => Math.max(...waits.map((wait) => wait[of])) / 1000;
  reached(8, `${mode}: the last mail of ${ROUNDS} killed workers out ${worst('fromKill')} s after the kill, ${worst('fromLease')} s after its lease`);
  expect(worst('fromKill')).toBeLessThanOrEqual(60);
  expect(worst('fromLease')).toBeLessThanOrEqual(10);
});

it(`four workers send ${MAILS} mails, each exactly once, and at most one twice per pause past their lease`, async () => {
  const room = await inTest(Mailroom.open(true));
  const { smtp } = room;
  const workers = [await room.hire(), await room.hire(), await room.hire(), await room.hire()];
  const began = performance.now();
  const plain = await room.queue('plain', MAILS);
  await room.becomes({ sent: MAILS }, 300_000);
  const seconds = (performance.now() - began) / 1000;
  // Workers log how much they have sent once nothing is left.
  const shares = await vi.waitFor(() => {
    const logged = workers.map(({ output }) => sum([...output.matchAll(SENT)].map(([, count]) => Number(count))));
    expect(sum(logged)).toBe(MAILS);
    return logged;
  });
  reached(11, `${smtp.received.length} sends of ${MAILS} mails in ${seconds.toFixed(1)} s, by worker ${shares.join(' ')}`);
  expect(Math.min(...shares)).toBeGreaterThan(0);
  expect(room.arrived(plain)).toEqual({ lost: 0, doubled: 0, wrong: [] });

  smtp.received.length = 0;
  smtp.atRecipient = smtp.atMessage = () => ({ waitMs: random.integer(20) });
  let [pauses, landed] = [0, 0];
  const mails: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    mails.push(...(await room.queue(`round${round}-`, 1_000)));
    // Stops three of the four while they work; the fourth takes over.
    for (const worker of workers.slice(1)) {
      await sleep(100 + random.integer(200));
      worker.signal('SIGSTOP');
      pauses++;
      if ((await room.leasedBy(worker)) > 0) landed++;
    }
    await sleep(PAUSE_MS);
    for (const worker of workers) worker.signal('SIGCONT');
    await room.becomes({ sent: MAILS + mails.length }, TAKEN_UP_MS);
  }
  // Gives continued workers time to send what they still hold.
  await sleep(10_000);
  const { lost, doubled, wrong } = room.arrived(mails);
  reached(11, `${doubled} duplicates in ${pauses} pauses, ${landed} of them with mails in hand`, SEED);
  expect(landed).toBeGreaterThanOrEqual(pauses / 2);
  expect({ lost, wrong }).toEqual({ lost: 0, wrong: [] });
  expect(doubled).toBeLessThanOrEqual(landed);
});

it('a Redis that vanishes loses nothing, delays no request, and everything is sent soon after it returns', async () => {
  const count = Number(process.env.INVITES ?? 500);
  const room = await inTest(Mailroom.open(true));
  const { smtp, outbox, redis } = room;
  const keys = (await rulesOn(outbox.db, loadEnv(outbox.settings, {}))).get(ApiKeys);
  const { key } = await keys.create(outbox.organizationId, { name: 'faults', scopes: ['accounts:write'] });
  const api = await inTest(ApiProcess.start(outbox.settings));
  await Promise.all([room.hire(), room.hire()]);
  const invited: string[] = [];

  /** Sends invites at an even rate. @returns how long each took (ms) */
  async function invite(more: number, overMs: number): Promise<number[]> {
    const running: Promise<number>[] = [];
    for (let done = 0; done < more; done++) {
      invited.push(`invited${invited.length}@example.org`);
      const body = JSON.stringify({ scope: 'organization', email: invited.at(-1) });
      const headers = { Authorization: `Token token=${key}`, 'Content-Type': 'application/json' };
      const began = performance.now();
      running.push(
        fetch(`http://127.0.0.1:${api.port}/v1/invites`, { method: 'POST', headers, body }).then(async (response) => {
          await response.text();
          expect(response.status).toBe(201);
          return performance.now() - began;
        }),
      );
      await sleep(overMs / more);
    }
    return Promise.all(running);
  }
  const share = Math.round(count * 0.2);
  await invite(share / 2, 2_000);
  const normal = await invite(share, 8_000);
  await room.becomes({ sent: invited.length }, 90_000);
  const client = redis!.client();
  const flush = async () => {
    for (let wiped = 0; wiped < 10; wiped++) {
      await sleep(200 + random.integer(1_000));
      await client.flushall();
    }
  };
  const [during] = await Promise.all([invite(share, 10_000), flush()]);
  client.disconnect();

  await redis!.kill();
  const before = smtp.received.length;
  const away = await invite(count - invited.length, OUTAGE_MS);
  const sentAway = smtp.received.length - before;
  await redis!.restart();
  const back = Date.now();
  await room.becomes({ sent: count }, 120_000);
  const p99 = (times: number[]) => percentile(times, 0.99);
  const times = [normal, during, away].map((all) => p99(all).toFixed(1)).join(' / ');
  reached(
    9,
    `10 wipes, ${away.length} invites in an outage of ${OUTAGE_MS / 1000} s (${sentAway} sent in it), p99 ${times} ms, ` +
      `longest ${Math.max(...away).toFixed(1)} ms, all sent ${Date.now() - back} ms after`,
    SEED,
  );
  expect(room.arrived(invited)).toEqual({ lost: 0, doubled: 0, wrong: [] });
  expect(p99(away)).toBeLessThanOrEqual(2 * p99(normal) + NOISE_MS);
  expect(api.ended).toBeNull();
  // Proves that the outage was real: workers get their jobs through Redis.
  expect(sentAway).toBeLessThan(away.length);
});

it('a mail server that misbehaves delays no other mail; what it never accepts is dead after eight tries, listed, and can be replayed', async () => {
  const room = await inTest(Mailroom.open());
  const { smtp, outbox } = room;
  await room.hire();
  const asOperator = { ...outbox.settings, MIGRATION_DATABASE_URL: outbox.database.ownerUrl };
  const waits = { never: { code: 450, message: 'not yet' }, stalling: { waitMs: 30_000 } };
  smtp.atRecipient = (address) => Object.entries(waits).find(([name]) => address.startsWith(name))?.[1];
  smtp.atMessage = (address) => (address.startsWith('poison') ? { code: 554, message: 'cannot be read' } : undefined);
  // The troublesome mails come first: five rejected, one deferred for ever, six stalled for half a minute.
  await outbox.queue([...numbered('poison', 5), ...numbered('never', 1), ...numbered('stalling', 6)]);
  const began = Date.now();
  await room.queue('ordinary', 200);
  await vi.waitUntil(() => smtp.received.filter(({ to }) => to.startsWith('ordinary')).length === 200, { timeout: 120_000, interval: 100 });
  const times = smtp.received.filter(({ to }) => to.startsWith('ordinary')).map(({ at }) => at - began);
  reached(10, `p95 ${percentile(times, 0.95)} ms, last ${Math.max(...times)} ms of ${times.length} ordinary mails`);
  expect(percentile(times, 0.95)).toBeLessThanOrEqual(60_000);
  // Stalled mails are accepted in the end, once: the worker did not hang up.
  await vi.waitFor(async () => expect((await outbox.tally()).sent).toBe(206), { timeout: 60_000 });
  expect(smtp.received).toHaveLength(206);
  for (const [index, minutes] of PAUSES_MINUTES.entries()) {
    const failed = () => outbox.rows(`status = 'failed' AND attempts = ${index + 1} AND leased_by IS NULL`);
    await vi.waitFor(async () => expect(await failed()).toHaveLength(6), { timeout: 60_000 });
    for (const { due_in } of await failed()) {
      // Some time has passed since the attempt.
      expect(Number(due_in) / 60).toBeGreaterThan(minutes * (1 - JITTER) - 1);
      expect(Number(due_in) / 60).toBeLessThanOrEqual(minutes * (1 + JITTER));
    }
    await outbox.pass('1 day');
    await room.nudge();
  }
  await room.becomes({ sent: 206, dead: 6 }, 60_000);
  const listed = results((await runCli(['--json', 'outbox', 'list', '--status', 'dead'], asOperator)).stdout);
  expect(listed.map(({ attempts }) => attempts)).toEqual(Array(6).fill(TRIES));
  expect(listed.map(({ last_error }) => last_error).sort()[5]).toContain('554');
  smtp.atRecipient = smtp.atMessage = () => undefined;
  for (const { id } of listed) expect(await runCli(['outbox', 'retry', id as string], asOperator)).toMatchObject({ code: 0 });
  await room.nudge();
  await room.becomes({ sent: 212 }, 60_000);
  expect(smtp.received).toHaveLength(212);
});
