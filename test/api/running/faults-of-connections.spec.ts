import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApi } from '../../support/http/api.js';
import { bytesOf } from '../../support/http/raw-http.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

/** Connections that are slow or half dead. */
const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);

function port(): number {
  return (api.server.address() as AddressInfo).port;
}

function connections(): Promise<number> {
  return new Promise((resolve) => api.server.getConnections((_error, count) => resolve(count)));
}

/** Everything received until the connection closes. */
function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
    socket.resume().on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

describe('the server', () => {
  it('allows 10 s for headers and 60 s for a request, checks every 2 s, and keeps idle connections longer than proxies do', () => {
    const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = api.server;
    const { connectionsCheckingInterval } = api.server as unknown as { connectionsCheckingInterval: number };
    expect({ headersTimeout, requestTimeout, timeout, keepAliveTimeout, connectionsCheckingInterval }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      timeout: 0,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 2_000,
    });
  });
});

describe('a slow client', () => {
  it('is cut off with 408 when its headers do not arrive', async () => {
    const usual = api.server.headersTimeout;
    api.server.headersTimeout = 300;
    const socket = connect(port(), '127.0.0.1', () => socket.write('GET /v1/ping HTTP/1.1\r\nHost: a\r\n'));
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 100);
    const text = await readAll(socket);
    clearInterval(drip);
    api.server.headersTimeout = usual;
    expect(text).toMatch(/^HTTP\/1\.1 408 .*"code":"bad_request".*"status":408/s);
  });

  it('gets its answer even when its body does not arrive', async () => {
    const usual = api.server.requestTimeout;
    // Longer than the answer takes on a busy machine.
    api.server.requestTimeout = 3_000;
    api.server.headersTimeout = 3_000;
    const headers: [string, string][] = [['Authorization', `Token token=${fixtures.a.key}`], ['Content-Length', '1000']]; // prettier-ignore
    const socket = connect(port(), '127.0.0.1', () => socket.write(bytesOf('/v1/ping', { headers, body: 'a' })));
    const text = await readAll(socket);
    api.server.requestTimeout = usual;
    api.server.headersTimeout = 10_000;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is cut off soon when it keeps its end open after an error', async () => {
    await vi.waitFor(async () => expect(await connections()).toBe(0));
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write('nonsense\r\n\r\n');
    });
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
    await vi.waitFor(async () => expect(await connections()).toBe(0));
    expect(socket.writable).toBe(true);
    socket.destroy();
  });
});

describe('a response larger than the socket buffers', () => {
  /** About 16 MB in one page. */
  beforeAll(async () => {
    await fixtures.make.query(
      `INSERT INTO homework (id, assigned_by, title, homework_type, scope, student_id, classroom_id, description, organization_id)
       SELECT gen_random_uuid(), assigned_by, title, homework_type, 'classroom', student_id, classroom_id, repeat('x', 160000), organization_id
       FROM homework CROSS JOIN generate_series(1, 100) WHERE classroom_id = $1`,
      [fixtures.a.path.classroom_id],
    );
  });

  const request = () => bytesOf('/v1/homework?limit=100', { headers: [['Authorization', `Token token=${fixtures.a.key}`]] });

  /** Opens a connection, reads the beginning of the answer and pauses. */
  async function stalled(bytes: string): Promise<{ socket: Socket; start: string }> {
    const socket = connect(port(), '127.0.0.1').on('error', () => undefined);
    socket.write(bytes);
    const [start] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    await sleep(300);
    return { socket, start: start.toString() };
  }

  it('is not mixed with the refusal of later bytes', async () => {
    const { socket, start } = await stalled(request().replace('Connection: close\r\n', ''));
    socket.write('nonsense\r\n\r\n');
    await sleep(300);
    const text = await readAll(socket);
    expect((start + text).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});
