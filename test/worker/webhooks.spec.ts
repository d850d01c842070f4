import { PAUSES_MINUTES, waitOf } from '../../apps/worker/src/webhooks/webhook.courier.js';
import { JITTER } from '../../apps/worker/src/outbox/schedule.js';
import { WebhookHealthService } from '../../apps/worker/src/webhooks/webhook-health.service.js';
import { fixture, inTest } from '../support/process/fixture.js';
import { TestHook } from '../support/worker/hook.js';
import { idOf, verifies, WebhookRoom } from '../support/worker/webhook-room.js';

const receiver = await fixture(TestHook.start());
const room = await fixture(WebhookRoom.open());

describe('deliveries to webhooks', () => {
  afterEach(async () => {
    receiver.drop();
    await room.clear();
    receiver.calls.length = 0;
    receiver.answer = () => ({ status: 202 });
  });

  it('are the events of the feed in their order, signed as Standard Webhooks has it', async () => {
    await room.events(3);
    const { id, secret } = await room.endpoint(receiver.url);
    const ids = await room.events(25);
    expect(await room.drain()).toEqual({ sent: 25 });
    expect(receiver.calls.map(idOf).sort()).toEqual([...ids].sort());
    const [call] = receiver.calls;
    expect(receiver.calls.every((one) => verifies(secret, one))).toBe(true);
    expect(verifies(secret, { ...call!, body: `${call!.body} ` })).toBe(false);
    const [event] = await room.outbox.make.query(`SELECT id, type, timestamp, resource, resource_id, data FROM events WHERE id = $1`, [idOf(call!)]);
    expect(call!.body).toBe(JSON.stringify(event));
    expect(await room.drain()).toEqual({});
    const [row] = await room.deliveries(`event_id = '${idOf(call!)}'`);
    // Only what answers on the public internet is kept.
    expect(row).toMatchObject({ endpoint_id: id, status: 'sent', attempts: 1, response_status: 202, answer: null, last_error: null });
    expect(row!.duration_ms).toBeGreaterThanOrEqual(0);
  });

  it('are made for the types that an endpoint wants, past many that it does not', async () => {
    await room.endpoint(receiver.url, { event_types: ['lead.created', 'invoice.*'] });
    await room.events(2_500);
    const wanted = [...(await room.events(1, { type: 'invoice.paid' })), ...(await room.events(1, { type: 'lead.created' }))];
    await room.events(1, { type: 'lead.converted' });
    expect(await room.drain()).toEqual({ sent: 2 });
    expect(receiver.calls.map(idOf).sort()).toEqual(wanted.sort());
  });

  it('are at most ten at a time for an endpoint', async () => {
    await room.endpoint(receiver.url);
    await room.events(30);
    let [open, most] = [0, 0];
    receiver.answer = () => {
      most = Math.max(most, ++open);
      setTimeout(() => open--, 290);
      return { status: 200, waitMs: 300 };
    };
    const draining = room.drain();
    await vi.waitFor(() => expect(receiver.calls).toHaveLength(10), 10_000);
    expect(await room.deliveries()).toHaveLength(10);
    await draining;
    expect([most, (await room.deliveries(`status = 'sent'`)).length]).toEqual([10, 30]);
  });

  it('are tried ten times in 75 hours, with the same id and a fresh time', async () => {
    const { secret } = await room.endpoint(receiver.url);
    await room.events(1);
    const elsewhere = await inTest(TestHook.start());
    receiver.answer = (index) => [{ status: 500 }, { status: 307, headers: { location: elsewhere.url } }, 'close' as const][index] ?? { status: 404 };
    const problems: unknown[] = [];
    for (const [index, minutes] of [...PAUSES_MINUTES, null].entries()) {
      expect(await room.drain()).toEqual(minutes === null ? { dead: 1 } : { failed: 1 });
      const [row] = await room.deliveries();
      problems.push(row!.last_error);
      expect(row!.attempts).toBe(index + 1);
      if (minutes !== null) {
        expect(Number(row!.due_in) / 60).toBeGreaterThan(minutes * (1 - JITTER) - 0.1);
        expect(Number(row!.due_in) / 60).toBeLessThanOrEqual(minutes * (1 + JITTER));
      }
      await room.outbox.pass('30 hours');
    }
    expect(problems.slice(0, 4)).toEqual(['http_500', 'http_307', 'connection_failed', 'http_404']);
    expect(PAUSES_MINUTES.reduce((sum, minutes) => sum + minutes, 0) / 60).toBeCloseTo(75.6, 1);
    expect(elsewhere.calls).toHaveLength(0);
    expect(new Set(receiver.calls.map(idOf)).size).toBe(1);
    expect(receiver.calls.every((call) => verifies(secret, call) && Math.abs(Number(call.headers['webhook-timestamp']) - call.at / 1000) < 5)).toBe(
      true,
    );
  });

  it('are signed with both secrets for a day after a rotation, and never with one that has expired', async () => {
    const { id, secret: former } = await room.endpoint(receiver.url);
    const secret = await room.as(() => room.rules.rotateSecret(room.organizationId, id));
    const call = async () => {
      await room.events(1);
      await room.drain();
      return receiver.calls.at(-1)!;
    };
    const both = await call();
    expect([verifies(former, both), verifies(secret, both)]).toEqual([true, true]);
    await room.outbox.make.query(`UPDATE webhook_endpoints SET previous_until = now() - interval '1 second'`);
    const later = await call();
    expect([verifies(former, later), verifies(secret, later)]).toEqual([false, true]);
    await room.outbox.make.query('SELECT forget_previous_secrets()');
    expect(await room.state(id)).toMatchObject({ previous_secret: null, previous_until: null });
  });

  it('wait as long as a receiver asks for, up to an hour', async () => {
    await room.endpoint(receiver.url);
    await room.events(1);
    receiver.answer = () => ({ status: 429, headers: { 'retry-after': '120' } });
    await room.drain();
    const [row] = await room.deliveries();
    expect(Number(row!.due_in)).toBeGreaterThan(115);
    expect(Number(row!.due_in)).toBeLessThanOrEqual(120);
    const now = Date.parse('2026-11-27T04:00:00Z');
    const wait = (status: number, retryAfter: string | null) => waitOf({ status, retryAfter }, now);
    expect(wait(503, 'Fri, 27 Nov 2026 04:10:00 GMT')).toBe(600_000);
    expect([wait(503, '86400'), wait(429, 'soon'), wait(429, '-5'), wait(500, '60'), wait(429, null)]).toEqual([3_600_000, 0, 0, 0, 0]);
  });

  it('end at a receiver that is gone, which is disabled and keeps its queue', async () => {
    const { id } = await room.endpoint(receiver.url);
    const ids = await room.events(3);
    receiver.answer = () => ({ status: 410 });
    await room.drain();
    expect(await room.state(id)).toMatchObject({ disabled_reason: 'gone' });
    const { length: asked } = receiver.calls;
    await room.events(5);
    receiver.answer = () => ({ status: 200 });
    await room.outbox.pass('3 days');
    expect(await room.drain()).toEqual({});
    expect(receiver.calls).toHaveLength(asked);
    receiver.calls.length = 0;
    await room.as(() => room.rules.change(room.organizationId, { userId: null, requestId: 'r' }, id, { enabled: true }));
    await room.drain();
    // The first ones got their answer; what waited comes before what follows.
    const left = await room.deliveries(`status = 'dead'`);
    expect(receiver.calls).toHaveLength(8 - left.length);
    expect(left.every(({ event_id: event }) => ids.includes(event!))).toBe(true);
  });

  it('of a disabled endpoint are held, and follow in their order when it is enabled', async () => {
    const { id } = await room.endpoint(receiver.url);
    const change = (enabled: boolean) => room.as(() => room.rules.change(room.organizationId, { userId: null, requestId: 'r' }, id, { enabled }));
    const first = await room.events(1);
    receiver.answer = () => ({ status: 500 });
    await room.drain();
    await change(false);
    const ids = [...first, ...(await room.events(25))];
    await room.outbox.make.query(`UPDATE outbox SET due_at = now() - interval '1 day'`);
    receiver.answer = () => ({ status: 200 });
    expect(await room.drain()).toEqual({});
    expect(await room.deliveries()).toMatchObject([{ status: 'held', attempts: 1 }]);
    receiver.calls.length = 0;
    await change(true);
    // One after the other, as at a receiver that takes its time.
    receiver.answer = () => ({ status: 200, waitMs: 20 });
    await vi.waitFor(async () => {
      await room.drain();
      expect(receiver.calls).toHaveLength(26);
    });
    const places = receiver.calls.map((call) => ids.indexOf(idOf(call)));
    expect(Math.max(...places.map((place, index) => Math.abs(place - index)))).toBeLessThan(10);
    expect(new Set(places).size).toBe(26);
  });

  it('that fail do not stop an endpoint that is well otherwise', async () => {
    await room.endpoint(receiver.url);
    const poison = await room.events(15);
    const ids = await room.events(40);
    receiver.answer = (_, call) => ({ status: poison.includes(idOf(call)) ? 400 : 200 });
    await room.drain();
    // Ten have failed, and nothing else was tried: it may be down.
    expect(await room.deliveries(`status = 'failed'`)).toHaveLength(10);
    for (let looks = 0; looks < 8; looks++) {
      await room.outbox.make.query(
        `UPDATE webhook_endpoints SET look_at = look_at - interval '11 minutes', failing_since = failing_since - interval '11 minutes'`,
      );
      await room.outbox.make.query(`UPDATE outbox SET created_at = created_at - interval '11 minutes'`);
      await room.drain();
    }
    expect(receiver.calls.map(idOf)).toEqual(expect.arrayContaining(ids));
    expect(await room.deliveries(`status = 'failed'`)).toHaveLength(15);
  });

  it('to a slow or a dead endpoint delay nobody else, of the same organization or another', async () => {
    const slow = await inTest(TestHook.start());
    slow.answer = () => null;
    const { id: other } = await room.outbox.make.organization();
    await room.endpoint(slow.url);
    await room.endpoint(receiver.url);
    await room.endpoint(receiver.url, { organizationId: other });
    const [ids, others] = [await room.events(30), await room.events(5, { organizationId: other })];
    const draining = room.drain();
    await vi.waitFor(() => expect(receiver.calls.map(idOf).sort()).toEqual([...ids, ...others].sort()), 8_000);
    expect(slow.calls).toHaveLength(10);
    slow.answer = () => ({ status: 200 });
    slow.drop();
    await draining;
  });

  it('are tried again if the name does not resolve, and show one fault for all of a connection', async () => {
    await room.endpoint('http://no-such-host.invalid/hook');
    await room.endpoint('http://127.0.0.1:1/hook');
    await room.events(1);
    expect(await room.drain()).toEqual({ failed: 2 });
    expect((await room.deliveries()).map(({ last_error: error }) => error)).toEqual(['connection_failed', 'connection_failed']);
  });

  it('that fail for a day are told to the owners, and for five days disable the endpoint', async () => {
    const { make } = room.outbox;
    await make.member(room.organizationId, { role: 'owner' });
    const { id } = await room.endpoint(receiver.url);
    const health = (await room.outbox.idleWorker()).get(WebhookHealthService);
    const passed = (time: string) =>
      make.query(`UPDATE webhook_endpoints SET failing_since = now() - $1::interval, failed_at = now() - interval '1 hour'`, [time]);
    const mails = async () => (await room.outbox.rows(`topic = 'email'`)).map(({ kind, gathered_kinds: kinds }) => [kind, kinds]);
    receiver.answer = () => ({ status: 500 });
    await room.events(1);
    await room.drain();
    await passed('23 hours');
    await health.runOnce();
    expect(await mails()).toEqual([]);
    await passed('25 hours');
    await health.runOnce();
    await health.runOnce();
    expect(await mails()).toEqual([['webhook_failing', { webhook_failing: 1 }]]);
    await passed('5 days');
    await Promise.all([health.runOnce(), health.runOnce()]);
    expect(await mails()).toEqual([['webhook_failing', { webhook_failing: 1, webhook_disabled: 1 }]]);
    expect(await room.state(id)).toMatchObject({ disabled_reason: 'failing' });
    expect(await room.deliveries()).toMatchObject([{ status: 'held' }]);
    const audit = await make.query(`SELECT details FROM audit_log WHERE operation = 'disable webhook endpoint'`);
    expect(audit).toEqual([{ details: { endpoint_id: id, reason: 'failing' } }]);
    // Enabled again, a failure begins anew; so does one that comes long after the last.
    await room.as(() => room.rules.change(room.organizationId, { userId: null, requestId: 'r' }, id, { enabled: true }));
    await room.drain();
    await make.query(`UPDATE webhook_endpoints SET failing_since = now() - interval '9 days', failed_at = now() - interval '3 days'`);
    await room.outbox.pass('1 day');
    await room.drain();
    await health.runOnce();
    expect(await room.state(id)).toMatchObject({ disabled_at: null, warned_at: null });
    // A success ends it.
    receiver.answer = () => ({ status: 200 });
    await room.outbox.pass('1 day');
    await room.drain();
    expect(await room.state(id)).toMatchObject({ failing_since: null, failed_at: null });
  });

  it('of a test are sent once, also while the endpoint is disabled', async () => {
    const { id, secret } = await room.endpoint(receiver.url);
    await room.as(() => room.rules.change(room.organizationId, { userId: null, requestId: 'r' }, id, { enabled: false }));
    receiver.answer = () => ({ status: 500 });
    const test = await room.as(() => room.rules.test(room.organizationId, id));
    await expect(room.as(() => room.rules.test(room.organizationId, id))).rejects.toThrow('ten seconds');
    expect(await room.drain()).toEqual({ dead: 1 });
    const [call] = receiver.calls;
    expect([idOf(call!), verifies(secret, call!)]).toEqual([test, true]);
    expect(JSON.parse(call!.body)).toEqual({
      ...{ id: test, type: 'webhook.test', timestamp: expect.any(String) as string, resource: 'webhook_endpoint', resource_id: id, data: {} },
    });
    expect(await room.state(id)).toMatchObject({ failing_since: null });
  });

  it('can be replayed one by one, with the same id', async () => {
    const { id } = await room.endpoint(receiver.url);
    const [event] = await room.events(1);
    await room.drain();
    const [row] = await room.deliveries();
    await room.as(() => room.rules.replay(room.organizationId, row!.id));
    expect(await room.drain()).toEqual({ sent: 1 });
    expect(receiver.calls.map(idOf)).toEqual([event, event]);
    const { id: other } = await room.outbox.make.organization();
    await expect(room.as(() => room.rules.replay(other, row!.id), other)).rejects.toThrow('No such record');
    await room.outbox.make.query('DELETE FROM events');
    await expect(room.as(() => room.rules.replay(room.organizationId, row!.id))).rejects.toThrow('no longer kept');
    await room.as(() => room.rules.remove(room.organizationId, id));
    await expect(room.as(() => room.rules.replay(room.organizationId, row!.id))).rejects.toThrow('deleted');
  });

  it('are dead if their event is no longer kept', async () => {
    await room.endpoint(receiver.url);
    await room.events(1);
    receiver.answer = () => ({ status: 500 });
    await room.drain();
    await room.outbox.make.query('DELETE FROM events');
    await room.outbox.pass('1 day');
    expect(await room.drain()).toEqual({ dead: 1 });
    expect(await room.deliveries()).toMatchObject([{ last_error: 'event_expired' }]);
  });
});
