import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Scope, SCOPES } from '@app/accounts';
import { Database } from '@app/database';
import { Admission } from '@app/serving';
import { AnswerCheck } from '../support/http/answer-check.js';
import { TestApi } from '../support/http/api.js';
import { bytesOf, exchange } from '../support/http/raw-http.js';
import { allRoutes, nameOf } from '../support/http/routes.js';
import { createWorld, pathOf } from '../support/data/world.js';
import { fixture } from '../support/process/fixture.js';

/** The limit of requests in flight; more are refused before any work is done for them. */
const MOST = 4;
const URGENT = ['/v1/ping', '/health/live', '/health/ready', '/metrics'];
const check = new AnswerCheck();
const sockets = new Set<Socket>();

const settings = { MAX_REQUESTS_IN_FLIGHT: String(MOST), REQUEST_DEADLINE_SECONDS: '60' };
const api = await fixture(TestApi.start(settings));
const world = await createWorld(api);
const admission = api.app.get(Admission);
const lock = new pg.Client({ connectionString: api.database.adminUrl });
await lock.connect();

afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await vi.waitFor(() => {
    expect(admission.inFlight).toBe(0);
  });
});

afterAll(() => lock.end());

const port = () => (api.server.address() as AddressInfo).port;
const authorization = (key: string): [string, string] => ['Authorization', `Token token=${key}`];
const ask = (path: string, key: string) => exchange(port(), bytesOf(path, { headers: [authorization(key)] }));

/** Runs the work while each key has as many requests in flight as it may, all held in the middle of their reads. */
async function whileHeld<T>(keys: string[], work: () => Promise<T>): Promise<T> {
  const release = Promise.withResolvers<undefined>();
  const read = Reflect.get<Database, 'read'>(Database.prototype, 'read');
  const held = vi.spyOn(Database.prototype, 'read').mockImplementation(async function (this: Database, ...args) {
    await release.promise;
    return read.apply(this, args);
  });
  const answers = Promise.all(keys.flatMap((key) => Array.from({ length: MOST / 2 }, () => ask('/v1/homework', key))));
  await vi.waitFor(() => expect(held).toHaveBeenCalledTimes((keys.length * MOST) / 2));
  held.mockImplementation(function (this: Database, ...args) {
    return read.apply(this, args);
  });
  try {
    return await work();
  } finally {
    release.resolve(undefined);
    for (const { status } of await answers) expect(status).toBe(200);
    held.mockRestore();
  }
}

it('every route except ping and health refuses excess requests with 503, without a lookup', async () => {
  const key = await api.key(world.c.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
  await whileHeld([world.a.key, world.b.key], async () => {
    const lookUp = vi.spyOn(Database.prototype, 'lookUp');
    const routes = allRoutes(api).filter(({ path }) => !URGENT.includes(path));
    const wrong = await Promise.all(
      routes.map(async (route) => {
        // Announces a body and sends none of it.
        const headers = [authorization(key), ['Content-Length', '1000000']] as [string, string][];
        const answer = await exchange(port(), bytesOf(pathOf(route, world.c), { method: route.method, headers }));
        const faults = check.faults(answer);
        return answer.status !== 503 || faults.length > 0
          ? [`${nameOf(route)}: ${answer.status} ${faults.join()}`]
          : [];
      }),
    );
    expect(wrong.flat()).toEqual([]);
    expect(lookUp).not.toHaveBeenCalled();
    for (const path of URGENT) expect([path, (await ask(path, key)).status]).toEqual([path, 200]);
    const metrics = await ask('/metrics', key);
    expect(metrics.body).toMatch(/^http_requests_refused_total [1-9]/m);
  });
  expect((await ask('/v1/homework', key)).status).toBe(200);
});

it('one key gets half the places and leaves the other half to others', async () => {
  await whileHeld([world.a.key], async () => {
    const refused = await ask('/v1/tutors', world.a.key);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect((await ask('/v1/tutors', world.b.key)).status).toBe(200);
  });
});

it('a refusal has the same headers as any other answer', async () => {
  const [usual, refused] = await whileHeld([world.a.key], () =>
    Promise.all([ask('/v1/ping', world.b.key), ask('/v1/tutors', world.a.key)]),
  );
  const own = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit', 'ratelimit-policy'];
  const names = Object.keys(usual.headers).filter((name) => !own.includes(name));
  expect(Object.keys(refused.headers)).toEqual(expect.arrayContaining(names));
});

it('slow uploads take no place from other requests', async () => {
  const key = await api.key(world.a.id, { scopes: ['read', 'students:write'] });
  const headers = [authorization(key), ['Content-Type', 'application/json'], ['Content-Length', '1000']] as [string, string][]; // prettier-ignore
  for (let count = 0; count < 3 * MOST; count++) {
    const socket = connect(port(), '127.0.0.1', () =>
      socket.write(bytesOf('/v1/students', { method: 'POST', headers, body: '{"first_name":' })),
    );
    sockets.add(socket.on('error', () => undefined));
    await once(socket, 'connect');
    await vi.waitFor(() => {
      expect(admission.inFlight).toBe(0);
    });
  }
  expect((await ask('/v1/tutors', key)).status).toBe(200);
});

it('a late event loop admits a quarter of the requests, until it is on time again', async () => {
  const alone = new Admission({ most: 16, share: 8, ownerOf: ({ url }) => url!, isUrgent: () => false });
  /** How many requests are admitted from one owner, and from many owners together. */
  const most = () =>
    [1, 16].map((owners) => {
      const responses: ServerResponse[] = [];
      let admitted = true;
      while (admitted) {
        const request = Object.assign(new IncomingMessage(new Socket()), { url: `${responses.length % owners}` });
        responses.push(new ServerResponse(request));
        admitted = alone.admit(request, responses.at(-1)!);
      }
      for (const response of responses) response.emit('close');
      return responses.length - 1;
    });
  expect(most()).toEqual([8, 16]);
  const began = performance.now();
  while (performance.now() - began < 1_500) {
    const late = performance.now() + 300;
    while (performance.now() < late);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(most()).toEqual([2, 4]);
  await vi.waitFor(() => expect(most()).toEqual([8, 16]), { timeout: 20_000 });
  alone.onApplicationShutdown();
});

describe('pipelined requests', () => {
  const request = (id: string) =>
    bytesOf('/v1/tutors', { headers: [authorization(world.a.key), ['X-Request-Id', id]] }).replace('Connection: close\r\n', ''); // prettier-ignore

  // A body ends without a line break.
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

  async function pipeline(count: number): Promise<{ text: string; ids: string[] }> {
    const ids = Array.from({ length: count }, (_, index) => `pipelined-${index}`);
    const socket = connect(port(), '127.0.0.1');
    sockets.add(socket.on('error', () => undefined));
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    socket.write(ids.map(request).join(''));
    await vi.waitFor(() => {
      expect(socket.destroyed || statuses(text).length === count).toBe(true);
    });
    return { text, ids };
  }

  it('are answered one at a time, in order', async () => {
    const lookUp = Reflect.get<Database, 'lookUp'>(Database.prototype, 'lookUp');
    let most = 0;
    vi.spyOn(Database.prototype, 'lookUp').mockImplementation(function (this: Database, ...args) {
      most = Math.max(most, admission.inFlight);
      return lookUp.apply(this, args);
    });
    const { text, ids } = await pipeline(60);
    expect(statuses(text)).toEqual(Array(60).fill(200));
    expect([...text.matchAll(/^X-Request-Id: (\S+)/gim)].map(([, id]) => id)).toEqual(ids);
    expect(most).toBe(1);
  });

  it('end their connection when there are too many', async () => {
    const { text } = await pipeline(200);
    const all = statuses(text);
    expect(all.at(-1)).toBe(503);
    expect(new Set(all.slice(0, -1))).toEqual(new Set([200]));
    expect(all.length).toBeLessThan(200);
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toMatch(/^Connection: close/im);
  });

  it('are dropped when the connection is cut', async () => {
    await lock.query('BEGIN; LOCK TABLE tutor_profiles IN ACCESS EXCLUSIVE MODE');
    const socket = connect(port(), '127.0.0.1', () => socket.write(Array.from({ length: 20 }, (_, n) => request(`cut-${n}`)).join(''))); // prettier-ignore
    sockets.add(socket.on('error', () => undefined));
    await vi.waitFor(() => {
      expect(admission.inFlight).toBe(1);
    });
    const lookUp = vi.spyOn(Database.prototype, 'lookUp');
    socket.destroy();
    await vi.waitFor(() => {
      expect(admission.inFlight).toBe(0);
    });
    await lock.query('ROLLBACK');
    await sleep(100);
    expect(lookUp).not.toHaveBeenCalled();
  });
});
