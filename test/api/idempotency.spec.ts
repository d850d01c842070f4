import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { hooks, Probe } from '../support/faults/probe.js';
import { reached } from '../support/faults/promise.js';

/** Two processes' worth of the application, on one database, with few connections each. */
let api: TestApi;
let twin: TestApi;
let make: Factories;
let school: string;
let key: string;

beforeAll(async () => {
  const settings = { ENCRYPTION_KEY: randomBytes(32).toString('hex'), DATABASE_POOL_SIZE: '5' };
  api = await TestApi.start(settings, undefined, [Probe]);
  twin = await TestApi.start(settings, api.database, [Probe]);
  make = await Factories.connect(api.database);
  school = (await make.organization()).id;
  key = await api.key(school, { scopes: ['read', 'write', 'accounts:write'] });
});

beforeEach(() => {
  hooks.afterEffect = () => Promise.resolve();
});

afterAll(async () => {
  await make.close();
  await twin.close();
  await api.stop();
});

interface Answer {
  status: number;
  /** Of the body and everything else that must be the same each time. */
  bytes: string;
  replayed: string | null;
  retryAfter: string | null;
}

async function ask(
  path: string,
  body: object,
  idempotencyKey: string,
  { at = api, as = key, method = 'POST' } = {},
): Promise<Answer> {
  const { port } = at.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      Authorization: `Token token=${as}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    bytes: `${response.status} ${response.headers.get('content-type')} ${text}`,
    replayed: response.headers.get('idempotency-replayed'),
    retryAfter: response.headers.get('retry-after'),
  };
}

/** As clients are told to: 409 and 503 mean again. */
async function retried(request: () => Promise<Answer>): Promise<Answer> {
  for (let left = 10; ; left--) {
    const answer = await request();
    if (![409, 503].includes(answer.status) || left === 0) return answer;
    await sleep(20);
  }
}

/** From now on effects are followed by a pause. @returns what ends it, and what resolves when it has begun */
function pauseAfterEffect(): { end: () => void; begun: Promise<void> } {
  const pause = Promise.withResolvers<undefined>();
  const begun = Promise.withResolvers<undefined>();
  hooks.afterEffect = () => {
    begun.resolve(undefined);
    return pause.promise;
  };
  return { end: () => pause.resolve(undefined), begun: begun.promise };
}

/** How many effects probes of this name had. */
async function effects(name: string): Promise<number> {
  const [row] = await make.query<{ n: number }>('SELECT count(*)::int AS n FROM subjects WHERE name LIKE $1', [
    `${name} %`,
  ]);
  return row!.n;
}

async function keysLike(idempotencyKey: string): Promise<number> {
  const [row] = await make.query<{ n: number }>('SELECT count(*)::int AS n FROM idempotency_keys WHERE key = $1', [
    idempotencyKey,
  ]);
  return row!.n;
}

/** What many answers to one key may be: the same bytes, or 409 with a time to come back. */
function wrongOnes(answers: Answer[]): string[] {
  const done = answers.filter(({ status }) => status !== 409);
  const wrong = answers.filter(
    ({ status, retryAfter }) => status >= 500 || (status === 409 && !/^[1-9]\d*$/.test(retryAfter ?? '')),
  );
  const kinds = [...new Set(done.map(({ bytes }) => bytes))];
  const firsts = done.filter(({ replayed }) => replayed !== 'true').length;
  return [
    ...wrong.map(({ bytes }) => bytes),
    ...(kinds.length === 1 ? [] : [`${kinds.length} different answers: ${kinds.join(' | ')}`]),
    ...(firsts === 1 ? [] : [`${firsts} answers that are no replay`]),
  ];
}

describe('duplicates at the same moment', () => {
  it('40 keys, 50 of each: one effect each, one answer each', { timeout: 120_000 }, async () => {
    const wrong: string[] = [];
    let replayed = 0;
    for (let n = 0; n < 40; n++) {
      const name = `many-${n}`;
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask('/v1/probes', { name }, name)));
      replayed += answers.filter((answer) => answer.replayed).length;
      wrong.push(...wrongOnes(answers));
      if ((await effects(name)) !== 1) wrong.push(`${name}: ${await effects(name)} effects`);
    }
    reached(3, `40 keys x 50: ${replayed} of 2,000 answers were replays, ${wrong.length} wrong`);
    expect(wrong).toEqual([]);
  });

  it('over two processes: the same', { timeout: 60_000 }, async () => {
    const wrong: string[] = [];
    let second = 0;
    for (let n = 0; n < 30; n++) {
      const name = `both-${n}`;
      // Who of the two comes first changes from key to key.
      const both = n % 2 ? [api, twin] : [twin, api];
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => ask('/v1/probes', { name }, name, { at: both[index % 2]! })),
      );
      const first = answers.findIndex(({ status, replayed }) => status === 201 && !replayed);
      if (both[first % 2] === twin) second++;
      wrong.push(...wrongOnes(answers));
      if ((await effects(name)) !== 1) wrong.push(`${name}: ${await effects(name)} effects`);
    }
    console.log(`30 keys x 20 over two processes: ${second} were carried out by the second`);
    expect(wrong).toEqual([]);
    expect(second).toBeGreaterThan(0);
    expect(second).toBeLessThan(30);
  });

  it('of real invites: one invite, one token', async () => {
    const name = uuidv7();
    const body = { scope: 'organization', email: `${name}@example.org` };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => ask('/v1/invites', body, name, { at: n % 2 ? api : twin })),
    );
    expect(wrongOnes(answers)).toEqual([]);
    expect(await make.query('SELECT id FROM invites WHERE email = $1', [body.email])).toHaveLength(1);
  });

  it.each(['here', 'in another process'])('wait two seconds %s and are then told to come back', async (where) => {
    const name = `slow ${where}`.replaceAll(' ', '-');
    const pause = pauseAfterEffect();
    const first = ask('/v1/probes', { name }, name);
    await pause.begun;
    const began = Date.now();
    const at = where === 'here' ? api : twin;
    const late = await Promise.all(Array.from({ length: 12 }, () => ask('/v1/probes', { name }, name, { at })));
    const took = Date.now() - began;
    expect(late.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(late.map(() => [409, '1']));
    expect(late[0]!.bytes).toContain('"code":"idempotency_key_in_use"');
    expect(took).toBeGreaterThan(1_900);
    // Twelve that wait hold none of the five connections: others are served meanwhile.
    const waiting = Promise.all(
      Array.from({ length: 12 }, () => retried(() => ask('/v1/probes', { name }, name, { at }))),
    );
    const served = await Promise.all(Array.from({ length: 10 }, () => at.get('/v1/ping', key)));
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 200));
    pause.end();
    const answers = [await first, ...(await waiting)];
    expect(wrongOnes(answers)).toEqual([]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(await effects(name)).toBe(1);
  });

  it('another body at the same moment is refused, here and in another process', async () => {
    for (const at of [api, twin]) {
      const name = `other-${uuidv7()}`;
      const pause = pauseAfterEffect();
      const first = ask('/v1/probes', { name }, name);
      await pause.begun;
      const otherwise = ask('/v1/probes', { name: `${name}x` }, name, { at });
      setTimeout(pause.end, 100);
      const other = await otherwise;
      expect(other.bytes).toContain('"loc":["header","idempotency-key"]');
      expect([(await first).status, other.status]).toEqual([201, 422]);
      expect([await effects(name), await effects(`${name}x`)]).toEqual([1, 0]);
    }
  });

  it('when the first one fails, the next one is carried out', async () => {
    const name = 'first-fails';
    let failures = 0;
    hooks.afterEffect = () => (failures++ < 3 ? Promise.reject(new Error('planted')) : sleep(20));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask('/v1/probes', { name }, name, { at: n % 3 ? api : twin })),
    );
    const failed = answers.filter(({ status }) => status === 500);
    expect(failed).toHaveLength(3);
    expect(wrongOnes(answers.filter(({ status }) => status !== 500))).toEqual([]);
    expect(await effects(name)).toBe(1);
  });
});

describe('what did nothing is not kept', () => {
  it.each([
    ['404', 404], ['409', 409], ['412', 412], ['422', 422], ['500', 500], ['sql', 500], ['killed', 503],
  ] as const)('a handler that ends with %s after its effect leaves neither, and its key is free', async (ends, status) => {
    const name = `ends-${ends}`;
    const idempotencyKey = uuidv7();
    const first = await ask('/v1/probes', { name, ends }, idempotencyKey);
    expect([first.status, first.replayed]).toEqual([status, null]);
    expect([await effects(name), await keysLike(idempotencyKey)]).toEqual([0, 0]);
    // Even for another request.
    const second = await ask('/v1/probes', { name }, idempotencyKey);
    expect([second.status, second.replayed]).toEqual([201, null]);
    expect(await effects(name)).toBe(1);
  }); // prettier-ignore

  it('a connection that is killed from outside at any moment leaves both or neither', async () => {
    const outcomes = { kept: 0, lost: 0 };
    let landed = 0;
    for (let round = 0; round < 20; round++) {
      const name = `kill-${round}`;
      // Now and then certainly in the middle.
      const pause = round % 5 === 0 ? pauseAfterEffect() : null;
      if (!pause) hooks.afterEffect = () => sleep(round % 4);
      const first = ask('/v1/probes', { name }, name);
      await (pause ? pause.begun : sleep(round % 10));
      const [{ n }] = (await make.query<{ n: number }>(
        `SELECT count(pg_terminate_backend(pid))::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'tutoring api' AND xact_start IS NOT NULL`,
      )) as [{ n: number }];
      landed += n;
      pause?.end();
      const { status } = await first;
      expect([201, 503], `round ${round}`).toContain(status);
      const [effect, kept] = [await effects(name), await keysLike(name)];
      expect(effect, `round ${round}`).toBe(kept);
      outcomes[kept ? 'kept' : 'lost']++;
      hooks.afterEffect = () => Promise.resolve();
      const again = await retried(() => ask('/v1/probes', { name }, name));
      expect(again.status).toBe(201);
      if (kept) expect(again.replayed).toBe('true');
      expect(await effects(name)).toBe(1);
    }
    console.log(`kills that landed in a transaction: ${landed}; ${JSON.stringify(outcomes)}`);
    expect(landed).toBeGreaterThanOrEqual(4);
  });

  it('a client that hangs up gets the answer when it comes back', async () => {
    const name = 'hung-up';
    const pause = pauseAfterEffect();
    const { port } = api.server.address() as AddressInfo;
    const headers = {
      Authorization: `Token token=${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': name,
    };
    const client = new AbortController();
    const gone = fetch(`http://127.0.0.1:${port}/v1/probes`, {
      method: 'POST',
      headers,
      body: `{"name":"${name}"}`,
      signal: client.signal,
    });
    await pause.begun;
    client.abort();
    await expect(gone).rejects.toThrow();
    pause.end();
    const again = await retried(() => ask('/v1/probes', { name }, name));
    expect([again.status, again.replayed]).toEqual([201, 'true']);
    expect(await effects(name)).toBe(1);
  });
});

describe('a replay', () => {
  it.each([
    ['201 of an object', '/v1/probes', 201],
    ['200 of text that the database wrote', '/v1/probes/x/again', 200],
    ['204 without a body', '/v1/probes/empty', 204],
  ])('is the same answer, byte for byte: %s', async (what, path, status) => {
    const name = what.replaceAll(' ', '-');
    const first = await ask(path, { name }, name);
    const again = [await ask(path, { name }, name), await ask(path, { name }, name, { at: twin })];
    expect(first.status).toBe(status);
    expect(first.replayed).toBeNull();
    expect(again.map(({ bytes, replayed }) => [bytes, replayed])).toEqual(again.map(() => [first.bytes, 'true']));
    expect(await effects(name)).toBe(1);
  });

  it('is for whoever may still ask: not for a revoked key, nor a read-only one, nor beyond the limit', async () => {
    const name = uuidv7();
    const { id, key: revoked } = await api.keys.create(school, { name: 'old', scopes: ['write'] });
    const first = await ask('/v1/probes', { name }, name, { as: revoked });
    await api.keys.revoke(id);
    const late = await ask('/v1/probes', { name }, name, { as: revoked });
    const reading = await ask('/v1/probes', { name }, name, { as: await api.key(school) });
    expect([first.status, late.status, reading.status]).toEqual([201, 401, 403]);
    for (const { bytes } of [late, reading]) expect(bytes).not.toContain('"id"');
    const fresh = await ask('/v1/probes', { name }, name, { as: await api.key(school, { scopes: ['write'] }) });
    expect([fresh.bytes, fresh.replayed]).toEqual([first.bytes, 'true']);

    const strict = await TestApi.start({ RATE_LIMIT_PER_MINUTE: '1' }, api.database, [Probe]);
    const slow = { at: strict, as: await api.key(school, { scopes: ['write'] }) };
    const limited = uuidv7();
    expect((await ask('/v1/probes', { name: limited }, limited, slow)).status).toBe(201);
    expect((await ask('/v1/probes', { name: limited }, limited, slow)).status).toBe(429);
    await strict.close();
  });

  it('with a changed ENCRYPTION_KEY is refused, and nothing is done twice', async () => {
    const name = uuidv7();
    await ask('/v1/probes', { name }, name);
    const rekeyed = await TestApi.start({}, api.database, [Probe]);
    const again = await ask('/v1/probes', { name }, name, { at: rekeyed });
    expect([again.status, await effects(name)]).toEqual([409, 1]);
    expect(again.bytes).toContain('can no longer be read');
    await rekeyed.close();
  });

  it('ends after 24 hours', async () => {
    const name = uuidv7();
    const age = (by: string) =>
      make.query(`UPDATE idempotency_keys SET expires_at = expires_at - $2::interval WHERE key = $1`, [name, by]);
    const first = await ask('/v1/probes', { name }, name);
    const [{ hours }] = (await make.query(
      `SELECT extract(epoch FROM expires_at - created_at)::int / 3600 AS hours FROM idempotency_keys WHERE key = $1`,
      [name],
    )) as [{ hours: number }];
    expect(hours).toBe(24);
    await age('23 hours 59 minutes');
    expect((await ask('/v1/probes', { name }, name)).bytes).toBe(first.bytes);
    await age('2 minutes');
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask('/v1/probes', { name }, name, { at: n % 2 ? api : twin })),
    );
    expect(wrongOnes(many)).toEqual([]);
    expect(many[0]!.bytes).not.toBe(first.bytes);
    expect(await effects(name)).toBe(2);
    await age('24 hours 1 minute');
    expect((await ask('/v1/probes', { name: 'another' }, name)).status).toBe(201);
    await age('24 hours 1 minute');
    await make.query('SELECT purge_expired()');
    expect(await keysLike(name)).toBe(0);
  });
});
