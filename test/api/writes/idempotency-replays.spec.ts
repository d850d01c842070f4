import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { hooks, Probe } from '../../support/faults/probe.js';
import { TestApi } from '../../support/http/api.js';
import { IdempotentApi, pauseAfterEffect, retried, wrongOnes } from '../../support/http/idempotent-api.js';
import { fixture } from '../../support/process/fixture.js';

const on = await fixture(IdempotentApi.open());
beforeEach(() => {
  hooks.afterEffect = () => Promise.resolve();
});

describe('a request that fails or is cut off', () => {
  it.each([
    ['404', 404], ['409', 409], ['412', 412], ['422', 422], ['500', 500], ['sql', 500], ['killed', 503],
  ] as const)('leaves no effect and frees its key when the handler ends with %s', async (ends, status) => {
    const name = `ends-${ends}`;
    const idempotencyKey = uuidv7();
    const first = await on.ask('/v1/probes', { name, ends }, idempotencyKey);
    expect([first.status, first.replayed]).toEqual([status, null]);
    expect([await on.effects(name), await on.keysLike(idempotencyKey)]).toEqual([0, 0]);
    // The key can even be used for another request.
    const second = await on.ask('/v1/probes', { name }, idempotencyKey);
    expect([second.status, second.replayed]).toEqual([201, null]);
    expect(await on.effects(name)).toBe(1);
  }); // prettier-ignore

  it('leaves both effect and key or neither when its database connection is killed', async () => {
    const outcomes = { kept: 0, lost: 0 };
    let landed = 0;
    for (let round = 0; round < 20; round++) {
      const name = `kill-${round}`;
      // Every fifth kill is certain to hit the open transaction.
      const pause = round % 5 === 0 ? pauseAfterEffect() : null;
      if (!pause) hooks.afterEffect = () => sleep(round % 4);
      const first = on.ask('/v1/probes', { name }, name);
      await (pause ? pause.begun : sleep(round % 10));
      const [{ n }] = (await on.make.query<{ n: number }>(
        `SELECT count(pg_terminate_backend(pid))::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'tutoring api' AND xact_start IS NOT NULL`,
      )) as [{ n: number }];
      landed += n;
      pause?.end();
      const { status } = await first;
      expect([201, 503], `round ${round}`).toContain(status);
      const [effect, kept] = [await on.effects(name), await on.keysLike(name)];
      expect(effect, `round ${round}`).toBe(kept);
      outcomes[kept ? 'kept' : 'lost']++;
      hooks.afterEffect = () => Promise.resolve();
      const again = await retried(() => on.ask('/v1/probes', { name }, name));
      expect(again.status).toBe(201);
      if (kept) expect(again.replayed).toBe('true');
      expect(await on.effects(name)).toBe(1);
    }
    console.log(`kills that landed in a transaction: ${landed}; ${JSON.stringify(outcomes)}`);
    expect(landed).toBeGreaterThanOrEqual(4);
  });

  it('is answered by a replay when a client that hung up retries', async () => {
    const name = 'hung-up';
    const pause = pauseAfterEffect();
    const { port } = on.api.server.address() as AddressInfo;
    const headers = { Authorization: `Token token=${on.key}`, 'Content-Type': 'application/json', 'Idempotency-Key': name };
    const client = new AbortController();
    const gone = fetch(`http://127.0.0.1:${port}/v1/probes`, { method: 'POST', headers, body: `{"name":"${name}"}`, signal: client.signal });
    await pause.begun;
    client.abort();
    await expect(gone).rejects.toThrow();
    pause.end();
    const again = await retried(() => on.ask('/v1/probes', { name }, name));
    expect([again.status, again.replayed]).toEqual([201, 'true']);
    expect(await on.effects(name)).toBe(1);
  });
});

describe('a replay', () => {
  it.each([
    ['201 of an object', '/v1/probes', 201],
    ['200 of text that the database wrote', '/v1/probes/x/again', 200],
    ['204 without a body', '/v1/probes/empty', 204],
  ])('is byte-for-byte identical: %s', async (what, path, status) => {
    const name = what.replaceAll(' ', '-');
    const first = await on.ask(path, { name }, name);
    const again = [await on.ask(path, { name }, name), await on.ask(path, { name }, name, { at: on.twin })];
    expect(first.status).toBe(status);
    expect(first.replayed).toBeNull();
    expect(again.map(({ bytes, replayed }) => [bytes, replayed])).toEqual(again.map(() => [first.bytes, 'true']));
    expect(await on.effects(name)).toBe(1);
  });

  it('is refused after ENCRYPTION_KEY changed, and nothing is done twice', async () => {
    const name = uuidv7();
    await on.ask('/v1/probes', { name }, name);
    const rekeyed = await TestApi.start({}, on.api.database, [Probe]);
    const again = await on.ask('/v1/probes', { name }, name, { at: rekeyed });
    expect([again.status, await on.effects(name)]).toEqual([409, 1]);
    expect(again.bytes).toContain('can no longer be read');
    await rekeyed.close();
  });

  it('is available for 24 hours', async () => {
    const name = uuidv7();
    const age = (by: string) => on.make.query(`UPDATE idempotency_keys SET expires_at = expires_at - $2::interval WHERE key = $1`, [name, by]);
    const first = await on.ask('/v1/probes', { name }, name);
    const [{ hours }] = (await on.make.query(
      `SELECT extract(epoch FROM expires_at - created_at)::int / 3600 AS hours FROM idempotency_keys WHERE key = $1`,
      [name],
    )) as [{ hours: number }];
    expect(hours).toBe(24);
    await age('23 hours 59 minutes');
    expect((await on.ask('/v1/probes', { name }, name)).bytes).toBe(first.bytes);
    await age('2 minutes');
    const many = await Promise.all(Array.from({ length: 20 }, (_, n) => on.ask('/v1/probes', { name }, name, { at: n % 2 ? on.api : on.twin })));
    expect(wrongOnes(many)).toEqual([]);
    expect(many[0]!.bytes).not.toBe(first.bytes);
    expect(await on.effects(name)).toBe(2);
    await age('24 hours 1 minute');
    expect((await on.ask('/v1/probes', { name: 'another' }, name)).status).toBe(201);
    await age('24 hours 1 minute');
    await on.make.query('SELECT purge_expired()');
    expect(await on.keysLike(name)).toBe(0);
  });
});
