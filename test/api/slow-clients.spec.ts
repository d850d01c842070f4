import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { cutSlowClients, SLOW_CLIENT_LIMITS } from '@app/serving';
import { TestApi } from '../support/http/api.js';
import { bytesOf } from '../support/http/raw-http.js';
import { createWorld, type World } from '../support/data/world.js';

/** Slow clients, with short limits; `test/faults/slow-clients.spec.ts` has the real ones. */
const LONG = { headers: 60_000, body: 60_000, upload: 60_000, stall: 60_000, answer: 60_000, check: 100 };

/** Collects what arrives until the connection closes, and reads nothing before `text` is called. */
function client(port: number, bytes: string): { socket: Socket; text: () => string; closed: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(bytes);
  const chunks: Buffer[] = [];
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('readable', () => undefined);
  return {
    socket,
    closed,
    text: () => {
      for (let chunk; (chunk = socket.read() as Buffer | null);) chunks.push(chunk);
      return Buffer.concat(chunks).toString('latin1');
    },
  };
}

describe('a reader', () => {
  /** More than the kernel buffers for the server. */
  const BYTES = 24_000_000;
  let server: Server;

  async function serve(limits: Partial<typeof LONG>, bytes = BYTES): Promise<number> {
    server = createServer((_request, response) => response.end(Buffer.alloc(bytes, 'x')));
    cutSlowClients(server, { ...LONG, ...limits });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** @returns `ended`, which resolves once the server has ended the connection */
  async function accepted(port: number): Promise<{ socket: Socket; ended: Promise<unknown> }> {
    const connection = once(server, 'connection') as Promise<[Socket]>;
    const { socket } = client(port, bytesOf('/'));
    const [ours] = await connection;
    return { socket, ended: once(ours, 'close') };
  }

  it('that reads nothing is cut off', async () => {
    const { ended } = await accepted(await serve({ stall: 500 }));
    await ended;
  });

  it('that reads a byte now and then is cut off', async () => {
    const { socket, ended } = await accepted(await serve({ stall: 500 }));
    const sips = setInterval(() => socket.read(1) as unknown, 20);
    await ended;
    clearInterval(sips);
  });

  it('that is slow but steady is not cut off', async () => {
    const { socket, text } = client(await serve({ stall: 3_000 }), bytesOf('/'));
    let size = 0;
    const began = performance.now();
    while (!socket.destroyed) {
      size += (socket.read() as Buffer | null)?.length ?? 0;
      await sleep(10);
    }
    size += text().length;
    expect(performance.now() - began).toBeGreaterThan(1_000);
    expect(size).toBeGreaterThan(BYTES);
  });

  it('that reads steadily but never finishes is cut off', async () => {
    const { socket, ended } = await accepted(await serve({ answer: 1_000 }));
    let taken = 0;
    const sips = setInterval(() => (taken += (socket.read() as Buffer | null)?.length ?? 0), 50);
    await ended;
    clearInterval(sips);
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(BYTES);
  });

  it('keeps an idle connection open after the response', async () => {
    const request = bytesOf('/').replace('close', 'keep-alive');
    const { socket, text } = client(await serve({ stall: 200, answer: 200 }, 1_000), request);
    await sleep(1_000);
    socket.write(request);
    await vi.waitFor(() => expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(2));
  });
});

describe('the API', () => {
  let api: TestApi;
  let world: World;
  let port: number;

  beforeAll(async () => {
    api = await TestApi.start({}, undefined, [], { ...LONG, headers: 500, body: 500, upload: 2_500, stall: 1_500 });
    world = await createWorld(api);
    port = (api.server.address() as AddressInfo).port;
  });

  afterAll(async () => {
    await api.stop();
  });

  /** Sends a byte now and then for as long as possible. */
  async function drip(bytes: string): Promise<{ answer: string; at: number }> {
    const { socket, text, closed } = client(port, bytes);
    const drops = setInterval(() => socket.write('-'), 50);
    await closed;
    clearInterval(drops);
    return { answer: text(), at: performance.now() };
  }

  const request = (path: string, key: string, type: string) =>
    bytesOf(path, {
      method: 'POST',
      headers: [
        ['Authorization', `Token token=${key}`],
        ['Content-Type', type],
        ['Content-Length', '100000'],
      ],
    });

  it('cuts slow headers, slow bodies and, later, slow uploads with 408', async () => {
    const key = await api.key(world.a.id, { scopes: ['accounts:write', 'blog:write'] });
    const [headers, body, upload] = await Promise.all([
      drip('GET /v1/ping HTTP/1.1\r\nHost: a\r\nX-A: '),
      drip(request('/v1/invites', key, 'application/json')),
      drip(`${request('/v1/blog-images', key, 'multipart/form-data; boundary=x')}--x\r\n`),
    ]);
    for (const { answer } of [headers, body, upload]) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 .*"code":"bad_request".*"status":408/s);
      expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    }
    expect(upload.at).toBeGreaterThan(Math.max(headers.at, body.at));
  });

  it('cuts off a slow reader of a large page and gives its place to the next', async () => {
    await world.make.query(
      `INSERT INTO homework (id, assigned_by, title, homework_type, scope, student_id, classroom_id, description, organization_id)
       SELECT gen_random_uuid(), assigned_by, title, homework_type, 'classroom', student_id, classroom_id, repeat('x', 160000), organization_id
       FROM homework CROSS JOIN generate_series(1, 100) WHERE classroom_id = $1`,
      [world.a.path.classroom_id],
    );
    const page = bytesOf('/v1/homework?limit=100', { headers: [['Authorization', `Token token=${world.a.key}`]] });
    const connection = once(api.server, 'connection') as Promise<[Socket]>;
    const { socket } = client(port, page);
    const [ours] = await connection;
    const sips = setInterval(() => socket.read(1) as unknown, 20);
    await once(ours, 'close');
    clearInterval(sips);
    // A normal reader is unaffected.
    const whole = await api.get('/v1/homework?limit=100', world.a.key);
    expect([whole.status, (whole.body as { data: unknown[] }).data.length]).toEqual([200, 100]);
  });
});

it('production has the documented limits', () => {
  expect(SLOW_CLIENT_LIMITS).toEqual({ headers: 10_000, body: 30_000, upload: 60_000, stall: 30_000, answer: 300_000, check: 500 }); // prettier-ignore
});
