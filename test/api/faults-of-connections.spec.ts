import { once } from 'node:events';
import { Agent, request as send } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { TestApi } from '../support/api.js';
import { ApiProcess, buildOnce } from '../support/api-process.js';
import { bytesOf } from '../support/raw-http.js';
import { createWorld, type World } from '../support/world.js';

/** Connections that are slow, half dead, or there when the process is told to end. */
let api: TestApi;
let world: World;

beforeAll(async () => {
  await buildOnce();
  api = await TestApi.start();
  world = await createWorld(api);
}, 300_000);

afterAll(async () => {
  await world.close();
  await api.stop();
});

function port(): number {
  return (api.server.address() as AddressInfo).port;
}

function connections(): Promise<number> {
  return new Promise((resolve) => api.server.getConnections((_error, count) => resolve(count)));
}

/** What came over a connection until it was closed, and how long that took (ms). */
function readAll(socket: Socket): Promise<{ text: string; milliseconds: number }> {
  const began = performance.now();
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
    socket
      .resume()
      .on('close', () => resolve({ text: Buffer.concat(chunks).toString(), milliseconds: performance.now() - began }));
  });
}

describe('the server', () => {
  it('gives headers 10 s, a request 30 s, a reader who does not read 30 s, and looks every 2 s', () => {
    const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = api.server;
    const { connectionsCheckingInterval } = api.server as unknown as { connectionsCheckingInterval: number };
    expect({ headersTimeout, requestTimeout, timeout, keepAliveTimeout, connectionsCheckingInterval }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      timeout: 30_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 2_000,
    });
  });
});

describe('a slow client', () => {
  it('that does not get its headers through is cut with 408', { timeout: 20_000 }, async () => {
    const usual = api.server.headersTimeout;
    api.server.headersTimeout = 300;
    const socket = connect(port(), '127.0.0.1', () => socket.write('GET /v1/ping HTTP/1.1\r\nHost: a\r\n'));
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 100);
    const { text, milliseconds } = await readAll(socket);
    clearInterval(drip);
    api.server.headersTimeout = usual;
    expect(text).toMatch(/^HTTP\/1\.1 408 .*"code":"bad_request".*"status":408/s);
    expect(milliseconds).toBeGreaterThan(250);
    // Looked for every 2 s.
    expect(milliseconds).toBeLessThan(4_500);
  });

  it('that does not get its body through is answered or cut all the same', { timeout: 20_000 }, async () => {
    const usual = api.server.requestTimeout;
    api.server.requestTimeout = 300;
    api.server.headersTimeout = 300;
    const headers: [string, string][] = [['Authorization', `Token token=${world.a.key}`], ['Content-Length', '1000']]; // prettier-ignore
    const socket = connect(port(), '127.0.0.1', () => socket.write(bytesOf('/v1/ping', { headers, body: 'a' })));
    const { text, milliseconds } = await readAll(socket);
    api.server.requestTimeout = usual;
    api.server.headersTimeout = 10_000;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(milliseconds).toBeLessThan(4_500);
  });

  it('that keeps its end open after an error is cut soon', async () => {
    const before = await connections();
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write('nonsense\r\n\r\n');
    });
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(await connections()).toBe(before + 1);
    await vi.waitFor(async () => expect(await connections()).toBe(before), 4_000);
    socket.destroy();
  });
});

describe('an answer too large for the buffers in between', () => {
  /** About 16 MB in one page. */
  beforeAll(async () => {
    await world.make.query(
      `INSERT INTO homework (id, assigned_by, title, homework_type, scope, student_id, classroom_id, description, organization_id)
       SELECT gen_random_uuid(), assigned_by, title, homework_type, 'classroom', student_id, classroom_id, repeat('x', 160000), organization_id
       FROM homework CROSS JOIN generate_series(1, 100) WHERE classroom_id = $1`,
      [world.a.path.classroom_id],
    );
  });

  const request = () =>
    bytesOf('/v1/homework?limit=100', { headers: [['Authorization', `Token token=${world.a.key}`]] });

  /** A connection that reads the beginning of the answer, and no more until it is told to. */
  async function stalled(bytes: string): Promise<{ socket: Socket; start: string }> {
    const socket = connect(port(), '127.0.0.1').on('error', () => undefined);
    socket.write(bytes);
    const [start] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    await sleep(300);
    return { socket, start: start.toString() };
  }

  it('waits for a reader who reads late', async () => {
    const { socket, start } = await stalled(request());
    const { text } = await readAll(socket);
    expect(start).toMatch(/^HTTP\/1\.1 200 /);
    expect(text.length).toBeGreaterThan(15_000_000);
    // Sent in chunks, to the last one.
    expect(text).toMatch(/\}\}\r\n0\r\n\r\n$/);
  });

  it('is cut for a reader who reads nothing', async () => {
    const accepted = once(api.server, 'connection') as Promise<[Socket]>;
    const { socket } = await stalled(request());
    const [ours] = await accepted;
    const closed = once(ours, 'close');
    // What the server's own timeout comes to, sooner and for this connection alone.
    ours.setTimeout(500);
    await closed;
    expect((await readAll(socket)).text.length).toBeLessThan(15_000_000);
  });

  it('is never mixed with the refusal of what was sent after it', async () => {
    const { socket, start } = await stalled(request().replace('Connection: close\r\n', ''));
    socket.write('nonsense\r\n\r\n');
    await sleep(300);
    const { text } = await readAll(socket);
    expect((start + text).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});

describe('SIGTERM', () => {
  let process: ApiProcess;
  let agent: Agent;

  beforeEach(async () => {
    process = await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl });
    agent = new Agent({ keepAlive: true });
  });

  afterEach(async () => {
    agent.destroy();
    await process.stop();
  });

  function ask(path: string): Promise<{ status: number; connection: string | undefined }> {
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Token token=${world.b.key}` };
      const sent = send({ host: '127.0.0.1', port: process.port, path, headers, agent }, (response) => {
        response
          .resume()
          .on('end', () => resolve({ status: response.statusCode!, connection: response.headers.connection }));
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  it('lets the requests in flight finish, takes no new ones, and waits for no idle connection', { timeout: 60_000 }, async () => {
    // Connections that are idle, that never sent anything, and that stopped in the middle of their headers.
    expect(await Promise.all([ask('/v1/ping'), ask('/v1/ping')])).toMatchObject([{ status: 200 }, { status: 200 }]);
    const silent = connect(process.port, '127.0.0.1').on('error', () => undefined);
    const partial = connect(process.port, '127.0.0.1', () => partial.write('GET /v1/ping HT')).on('error', () => undefined);
    const lock = new pg.Client({ connectionString: api.database.adminUrl });
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE homework IN ACCESS EXCLUSIVE MODE');
    const inFlight = Array.from({ length: 5 }, () => ask('/v1/homework'));
    await vi.waitFor(async () => {
      const { rows } = await lock.query(`SELECT FROM pg_locks WHERE relation = 'homework'::regclass AND NOT granted`);
      expect(rows.length).toBeGreaterThanOrEqual(5);
    }, 5_000);

    process.signal('SIGTERM');
    const told = performance.now();
    await sleep(1_500);
    expect(process.ended).toBeNull();
    await expect(once(connect(process.port, '127.0.0.1'), 'connect')).rejects.toThrow(/ECONNREFUSED/);
    await lock.end();
    expect(await Promise.all(inFlight)).toEqual(Array(5).fill({ status: 200, connection: 'close' }));
    const answered = performance.now();
    // Ended by the signal itself, after its work: what every supervisor expects.
    expect(await process.exit).toBe('SIGTERM');
    expect(performance.now() - answered).toBeLessThan(3_000);
    expect(performance.now() - told).toBeLessThan(10_000);
    expect(process.stderr).toBe('');
    silent.destroy();
    partial.destroy();
    // What was noted in memory is written before the end.
    const [key] = await world.make.query<{ used: boolean }>(
      `SELECT last_used_at = date_trunc('minute', last_used_at) AND last_used_at > now() - interval '3 minutes' AS used
       FROM api_keys WHERE organization_id = $1 AND last_used_at IS NOT NULL`,
      [world.b.id],
    );
    expect(key).toEqual({ used: true });
  }); // prettier-ignore

  it('drops nothing that a careful client sends: it reuses no connection that was said to end', { timeout: 40_000 }, async () => {
    const statuses: number[] = [];
    const failures: string[] = [];
    let told = false;
    const client = async (): Promise<void> => {
      for (;;) {
        try {
          statuses.push((await ask('/v1/reports/summary')).status);
        } catch (error) {
          // After the end nobody listens; before it, no connection may break under a request.
          if (!told || !/ECONNREFUSED/.test((error as Error).message)) failures.push((error as Error).message);
          return;
        }
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await vi.waitFor(() => expect(statuses.length).toBeGreaterThan(40), 20_000);
    told = true;
    process.signal('SIGTERM');
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await process.exit).toBe('SIGTERM');
  }); // prettier-ignore
});
