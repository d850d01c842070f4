import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { hooks } from '../../support/faults/probe.js';
import { reached } from '../../support/faults/promise.js';
import { IdempotentApi, pauseAfterEffect, retried, wrongOnes } from '../../support/http/idempotent-api.js';
import { fixture } from '../../support/process/fixture.js';

const on = await fixture(IdempotentApi.open());
beforeEach(() => {
  hooks.afterEffect = () => Promise.resolve();
});

describe('concurrent requests with one key', () => {
  it('have one effect and one answer per key (40 keys, 50 requests each)', async () => {
    const wrong: string[] = [];
    let replayed = 0;
    for (let n = 0; n < 40; n++) {
      const name = `many-${n}`;
      const answers = await Promise.all(Array.from({ length: 50 }, () => on.ask('/v1/probes', { name }, name)));
      replayed += answers.filter((answer) => answer.replayed).length;
      wrong.push(...wrongOnes(answers));
      if ((await on.effects(name)) !== 1) wrong.push(`${name}: ${await on.effects(name)} effects`);
    }
    reached(3, `40 keys x 50: ${replayed} of 2,000 answers were replays, ${wrong.length} wrong`);
    expect(wrong).toEqual([]);
  });

  it('have one effect and one answer across two processes', async () => {
    const wrong: string[] = [];
    let second = 0;
    for (let n = 0; n < 30; n++) {
      const name = `both-${n}`;
      // Alternate which process gets the first request.
      const both = n % 2 ? [on.api, on.twin] : [on.twin, on.api];
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => on.ask('/v1/probes', { name }, name, { at: both[index % 2]! })));
      const first = answers.findIndex(({ status, replayed }) => status === 201 && !replayed);
      if (both[first % 2] === on.twin) second++;
      wrong.push(...wrongOnes(answers));
      if ((await on.effects(name)) !== 1) wrong.push(`${name}: ${await on.effects(name)} effects`);
    }
    console.log(`30 keys x 20 over two processes: ${second} were carried out by the second`);
    expect(wrong).toEqual([]);
    expect(second).toBeGreaterThan(0);
    expect(second).toBeLessThan(30);
  });

  it.each(['here', 'in another process'])('wait two seconds %s and then get 409 with Retry-After', async (where) => {
    const name = `slow ${where}`.replaceAll(' ', '-');
    const pause = pauseAfterEffect();
    const first = on.ask('/v1/probes', { name }, name);
    await pause.begun;
    const began = Date.now();
    const at = where === 'here' ? on.api : on.twin;
    const late = await Promise.all(Array.from({ length: 12 }, () => on.ask('/v1/probes', { name }, name, { at })));
    const took = Date.now() - began;
    expect(late.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(late.map(() => [409, '1']));
    expect(late[0]!.bytes).toContain('"code":"idempotency_key_in_use"');
    expect(took).toBeGreaterThan(1_900);
    // Twelve waiting requests use none of the five connections, so others are served.
    const waiting = Promise.all(Array.from({ length: 12 }, () => retried(() => on.ask('/v1/probes', { name }, name, { at }))));
    const served = await Promise.all(Array.from({ length: 10 }, () => at.get('/v1/ping', on.key)));
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 200));
    pause.end();
    const answers = [await first, ...(await waiting)];
    expect(wrongOnes(answers)).toEqual([]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(await on.effects(name)).toBe(1);
  });

  it('are refused if the body differs, here and in another process', async () => {
    for (const at of [on.api, on.twin]) {
      const name = `other-${uuidv7()}`;
      const pause = pauseAfterEffect();
      const first = on.ask('/v1/probes', { name }, name);
      await pause.begun;
      const otherwise = on.ask('/v1/probes', { name: `${name}x` }, name, { at });
      setTimeout(pause.end, 100);
      const other = await otherwise;
      expect(other.bytes).toContain('"loc":["header","idempotency-key"]');
      expect([(await first).status, other.status]).toEqual([201, 422]);
      expect([await on.effects(name), await on.effects(`${name}x`)]).toEqual([1, 0]);
    }
  });

  it('are carried out one after the other until one succeeds', async () => {
    const name = 'first-fails';
    let failures = 0;
    hooks.afterEffect = () => (failures++ < 3 ? Promise.reject(new Error('planted')) : sleep(20));
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => on.ask('/v1/probes', { name }, name, { at: n % 3 ? on.api : on.twin })));
    const failed = answers.filter(({ status }) => status === 500);
    expect(failed).toHaveLength(3);
    expect(wrongOnes(answers.filter(({ status }) => status !== 500))).toEqual([]);
    expect(await on.effects(name)).toBe(1);
  });
});
