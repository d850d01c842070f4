import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BodyBudget } from '@app/serving';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { Random } from '../support/data/random.js';
import { MULTIPART } from '../support/http/uploads.js';

const MIB = 1_048_576;
/** The largest body limit, that of a blog post. */
const LONGEST = 3 * MIB;

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

let api: TestApi;
let make: Factories;
let budget: BodyBudget;
let school: string;
let key: string;
const sockets = new Set<Socket>();

beforeAll(async () => {
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  budget = api.app.get(BodyBudget);
  ({ id: school } = await make.organization());
  key = await keyOf(school);
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  vi.restoreAllMocks();
  await whole();
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

const keyOf = (organizationId: string) => api.key(organizationId, { scopes: ['read', 'blog:write', 'students:write'] });

/** Waits until nothing is in flight and no owner is remembered. */
async function whole(): Promise<void> {
  await vi.waitFor(() => {
    expect(budget.state).toEqual({ bytes: 0, owners: 0 });
  });
}

interface Sent {
  method?: string;
  path?: string;
  type?: string;
  /** undefined: chunked. */
  length?: number;
  headers?: string[];
  as?: string;
}

/** Opens a connection and sends the head of a request with a body. */
async function begin({
  method = 'POST',
  path = '/v1/blog-posts',
  type = 'application/json',
  length,
  headers = [],
  as = key,
}: Sent) {
  const { port } = api.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.add(socket);
  await once(socket, 'connect');
  const size = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Token token=${as}`,
    `Content-Type: ${type}`,
    size,
  ];
  socket.write([...lines, ...headers, '', ''].join('\r\n'));
  return socket;
}

/** The next packet from the server. */
async function heard(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
}

const post = (n: number, content = 'short') => JSON.stringify({ title: 'News', slug: `news-${seed}-${n}`, content });
const chunked = (body: string) => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const refused = /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n/;

describe('bodies in flight', () => {
  it('beyond an organization’s budget are refused at once and unread, while others continue', async () => {
    const half = await Promise.all(Array.from({ length: 10 }, () => begin({ length: LONGEST })));
    for (const socket of half) socket.write(Buffer.alloc(MIB, ' '));
    await vi.waitFor(() => {
      expect(budget.state).toEqual({ bytes: 10 * LONGEST, owners: 1 });
    });
    const before = await make.query('SELECT count(*) FROM audit_log');
    for (const sent of [{ length: LONGEST }, {}, { length: 2 * MIB + 1 }]) {
      const answer = await heard(await begin(sent));
      expect(answer).toMatch(refused);
      expect(answer).toMatch(/Connection: close\r\n/);
    }
    // A refusal writes no audit row.
    expect(await make.query('SELECT count(*) FROM audit_log')).toEqual(before);
    const waiting = await begin({ length: LONGEST, headers: ['Expect: 100-continue'] });
    expect(await heard(waiting)).toMatch(refused);
    // Small bodies still fit, and other organizations are unaffected.
    const body = post(1);
    const small = await begin({ length: body.length });
    small.write(body);
    expect(await heard(small)).toMatch(/^HTTP\/1\.1 201 /);
    const other = await begin({ as: await keyOf((await make.organization()).id) });
    other.write(chunked(post(2)));
    expect(await heard(other)).toMatch(/^HTTP\/1\.1 201 /);
    half[0]!.destroy();
    await vi.waitFor(() => {
      expect(budget.state.bytes).toBe(9 * LONGEST);
    });
    const next = await begin({});
    next.write(chunked(post(3)));
    expect(await heard(next)).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('beyond the budget of the process are refused', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, async () => keyOf((await make.organization()).id)));
    for (const as of keys.slice(0, 4)) for (let n = 0; n < 5; n++) await begin({ length: LONGEST, as });
    await vi.waitFor(() => {
      expect(budget.state).toEqual({ bytes: 20 * LONGEST, owners: 4 });
    });
    const last = await begin({ length: LONGEST, as: keys[4]! });
    await vi.waitFor(() => {
      expect(budget.state.bytes).toBe(21 * LONGEST);
    });
    expect(await heard(await begin({ length: LONGEST, as: keys[4]! }))).toMatch(refused);
    last.destroy();
  });

  it('do not count until the caller and the headers have been checked', async () => {
    const keys = { none: 'garbage', reader: await api.key(school) };
    const wrong: [Sent, RegExp][] = [
      [{ as: keys.none, length: LONGEST }, /^HTTP\/1\.1 401/],
      [{ as: keys.reader, length: LONGEST }, /^HTTP\/1\.1 403/],
      [{ length: LONGEST, type: 'text/plain' }, /^HTTP\/1\.1 415/],
      [{ length: LONGEST + 1 }, /^HTTP\/1\.1 413/],
      [{ length: LONGEST, path: '/v1/nowhere' }, /^HTTP\/1\.1 404/],
    ];
    const taken = vi.spyOn(budget, 'take');
    for (const [sent, status] of wrong) expect(await heard(await begin(sent))).toMatch(status);
    expect(taken).not.toHaveBeenCalled();
  });
});

/** Every way a request with a body can end. */
const FATES: ((n: number, random: Random) => Promise<void>)[] = [
  async (n) => answered(await begin({}), chunked(post(n))),
  async (n) => {
    const body = post(n, 'é'.repeat(100_000));
    await answered(await begin({ length: Buffer.byteLength(body) }), body);
  },
  async () => answered(await begin({ length: 9 }), '{"title":'),
  async () => answered(await begin({ length: 2 }), '{}'),
  async (n) => answered(await begin({ path: '/v1/students', length: 24 + String(n).length }), `{"first_name":"A","x":"${n}"}`),
  async () => answered(await begin({}), `${(LONGEST + 1).toString(16)}\r\n${' '.repeat(LONGEST + 1)}\r\n`),
  async () => answered(await begin({ path: '/v1/blog-images', type: MULTIPART, length: 5 }), 'wrong'),
  async (_n, random) => left(await begin({ length: LONGEST }), random, Buffer.alloc(random.integer(LONGEST), ' ')),
  async (_n, random) => left(await begin({}), random, `${(1000).toString(16)}\r\n${' '.repeat(random.integer(1000))}`),
  async (_n, random) => left(await begin({ path: '/v1/blog-images', type: MULTIPART, length: MIB }), random, Buffer.alloc(random.integer(MIB), ' ')),
  async (_n, random) => left(await begin({ length: 500, headers: ['Expect: 100-continue'] }), random, ''),
  // The whole request, then a disconnect before the answer.
  async (n, random) => left(await begin({}), random, chunked(post(n))),
  // A second request waits behind the first on the connection, and both are abandoned.
  async (n, random) => {
    const body = post(n);
    const first = await begin({ length: body.length });
    first.write(body);
    left(first, random, `POST /v1/blog-posts HTTP/1.1\r\nHost: x\r\nAuthorization: Token token=${key}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n`);
  },
  // Not a chunk size at all.
  async (_n, random) => left(await begin({}), random, 'zz\r\n'),
]; // prettier-ignore

async function answered(socket: Socket, body: string): Promise<void> {
  socket.write(body);
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
}

function left(socket: Socket, random: Random, body: Buffer | string): void {
  socket.write(body);
  setTimeout(() => socket.destroy(), random.integer(60));
}

async function mixture(count: number): Promise<void> {
  const random = new Random(seed);
  const fates = Array.from({ length: count }, (_, n) => ({
    n,
    fate: FATES[n % FATES.length]!,
    at: random.integer(800),
  }));
  await Promise.all(
    fates.map(async ({ n, fate, at }) => {
      await sleep(at);
      await fate(n, random);
    }),
  );
}

describe(`requests that end in any way (seed ${seed})`, () => {
  it('return the whole budget once they are over', async () => {
    const taken = vi.spyOn(budget, 'take');
    // A client may leave before its request is looked at, and on a busy machine most do.
    for (let time = 0; time === 0 || (taken.mock.calls.length <= 5 * FATES.length && time < 8); time++) {
      await mixture(10 * FATES.length);
    }
    expect(taken.mock.calls.length).toBeGreaterThan(5 * FATES.length);
    await whole();
  });

  it('fail this test when the budget is given back only once the response has been finished', async () => {
    const inner = budget as unknown as { add: (organizationId: string, bytes: number) => void };
    let missing = 0;
    vi.spyOn(budget, 'take').mockImplementation((response, organizationId, bytes) => {
      inner.add(organizationId, bytes);
      missing += bytes;
      response.once('finish', () => {
        inner.add(organizationId, -bytes);
        missing -= bytes;
      });
    });
    await mixture(3 * FATES.length);
    for (const socket of sockets) socket.destroy();
    // No response finishes after that.
    const connections = promisify(api.server.getConnections.bind(api.server));
    await vi.waitFor(async () => expect(await connections()).toBe(0));
    expect(budget.state.bytes).toBeGreaterThan(0);
    vi.restoreAllMocks();
    inner.add(school, -missing);
  });
});
