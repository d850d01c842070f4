import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '@app/database';
import { BodyBudget, linger } from '@app/serving';
import { Overloaded } from '../../apps/api/src/http/errors/api-error.js';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';

const MIB = 1_048_576;
/** More than the kernel buffers on both sides of a connection. */
const LONG = 16 * MIB;
/** Requests per minute. */
const LIMIT = 100;

const sockets = new Set<Socket>();

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.add(socket.on('error', () => undefined));
  await once(socket, 'connect');
  return socket;
}

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  vi.restoreAllMocks();
});

describe('a refused request whose body is not read', () => {
  let api: TestApi;
  let make: Factories;
  let school: string;
  let keys: { reader: string; writer: string };

  beforeAll(async () => {
    api = await TestApi.start({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
    make = await Factories.connect(api.database);
    ({ id: school } = await make.organization());
    keys = { reader: await api.key(school), writer: await api.key(school, { scopes: ['read', 'blog:write'] }) };
  });

  afterAll(async () => {
    await make.close();
    await api.stop();
  });

  /** A key over its limit. */
  async function spent(): Promise<string> {
    const key = await api.key(school);
    for (let n = 0; n < LIMIT + 20; n++) await api.get('/v1/ping', key);
    return key;
  }

  interface Sent {
    key?: string;
    path?: string;
    method?: string;
    type?: string;
    chunked?: boolean;
    headers?: string[];
  }

  /** Sends a whole long body before reading. @returns what arrives until the server ends the connection */
  async function sendThenRead(sent: Sent): Promise<string> {
    const { key, path = '/v1/blog-posts', method = 'POST', type = 'application/json', chunked, headers = [] } = sent;
    const socket = await open((api.server.address() as AddressInfo).port);
    const failed = vi.fn();
    socket.on('error', failed);
    const lines = [
      `${method} ${path} HTTP/1.1`,
      'Host: x',
      `Content-Type: ${type}`,
      chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${LONG}`,
      ...(key ? [`Authorization: Token token=${key}`] : []),
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${chunked ? `${LONG.toString(16)}\r\n` : ''}`);
    await new Promise((resolve) => socket.write(Buffer.alloc(LONG, ' '), resolve));
    const answer = await text(socket);
    expect(failed).not.toHaveBeenCalled();
    return answer;
  }

  it.each<[string, () => Sent | Promise<Sent>, number]>([
    ['without a key', () => ({}), 401],
    ['without the scope', () => ({ key: keys.reader }), 403],
    ['to an unknown path', () => ({ key: keys.writer, path: '/v1/unheard-of' }), 404],
    ['with an unsupported method', () => ({ key: keys.writer, method: 'PUT', path: '/v1/ping' }), 405],
    ['that is too long', () => ({ key: keys.writer }), 413],
    ['that turns out to be too long', () => ({ key: keys.writer, chunked: true }), 413],
    ['of an unsupported type', () => ({ key: keys.writer, type: 'text/plain' }), 415],
    ['of an unsupported type, in chunks', () => ({ key: keys.writer, type: 'text/plain', chunked: true }), 415],
    ['with an invalid query', () => ({ key: keys.reader, method: 'GET', path: '/v1/homework?limit=x' }), 422],
    ['of a key over its limit', async () => ({ key: await spent() }), 429],
    ['of a key over its limit, on a page', async () => ({ key: await spent(), headers: ['Origin: https://a.example'] }), 429],
    ['as an upload that is too long', () => ({ key: keys.writer, path: '/v1/blog-images', type: 'multipart/form-data; boundary=x' }), 413],
    ['as an upload that turns out to be too long', () => ({ key: keys.writer, path: '/v1/blog-images', chunked: true, type: 'multipart/form-data; boundary=x' }), 413],
  ])('%s is answered before the connection closes', async (_, sent, status) => {
    const answer = await sendThenRead(await sent());
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    // The body arrived complete, because it parses.
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toBeTypeOf('object');
  }); // prettier-ignore

  it.each<[string, () => Sent, number]>([
    ['at its head, takes no memory for the body', () => ({ headers: ['Host: y'] }), 0],
    // Up to 128 KiB arrive before the key is looked up.
    ['later, takes hardly any memory for the body', () => ({ key: keys.reader }), 1],
  ])('%s', async (_, sent, most) => {
    const push = vi.spyOn(IncomingMessage.prototype, 'push');
    expect(await sendThenRead(sent())).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(push.mock.calls.filter(([piece]) => piece !== null).length).toBeLessThanOrEqual(most);
  });

  it('for lack of memory is answered before the connection closes', async () => {
    vi.spyOn(api.app.get(BodyBudget), 'take').mockImplementation(() => {
      throw new Overloaded(1);
    });
    const answer = await sendThenRead({ key: keys.writer, chunked: true });
    expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n/);
  });

  it('that is short keeps its connection open', async () => {
    const socket = await open((api.server.address() as AddressInfo).port);
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    const request = `POST /v1/blog-posts HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${' '.repeat(1000)}`;
    for (let count = 1; count <= 3; count++) {
      socket.write(request);
      await vi.waitFor(() => expect(heard.match(/HTTP\/1\.1 401 /g)).toHaveLength(count));
    }
    expect(heard).not.toContain('Connection: close');
  });

  it('ignores requests pipelined behind it', async () => {
    const lookUp = vi.spyOn(Database.prototype, 'lookUp');
    const socket = await open((api.server.address() as AddressInfo).port);
    const ping = `GET /v1/ping HTTP/1.1\r\nHost: x\r\nAuthorization: Token token=${keys.reader}\r\n\r\n`;
    const body = ' '.repeat(70_000);
    socket.write(`POST /v1/blog-posts HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n${body}${ping.repeat(5)}`);
    const answer = await text(socket);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
    expect(lookUp).not.toHaveBeenCalled();
  });

  it('after too many pipelined requests loses no answer', async () => {
    const socket = await open((api.server.address() as AddressInfo).port);
    const request = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
    await new Promise((resolve) => socket.write(request.repeat(LONG / request.length), resolve));
    const statuses = (await text(socket)).match(/HTTP\/1\.1 \d+/g)!;
    expect(statuses.at(-1)).toBe('HTTP/1.1 503');
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set(['HTTP/1.1 200']));
  });
});

describe('a lingering connection', () => {
  let server: Server;
  const accepted: Socket[] = [];

  /** Lingers on every connection. */
  async function serve(ms: number): Promise<number> {
    accepted.length = 0;
    server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      accepted.push(socket.on('error', () => undefined));
      linger(socket, ms);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  afterEach(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });

  /** Sends endlessly. */
  function pump(socket: Socket): void {
    const chunk = Buffer.alloc(MIB);
    const more = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', more).resume();
    more();
  }

  it('closes when the client closes', async () => {
    const socket = await open(await serve(60_000));
    const ended = once(socket, 'close');
    socket.end('the rest');
    await ended;
    await vi.waitFor(() => expect(accepted[0]!.destroyed).toBe(true));
  });

  it('is cut off after its time limit', async () => {
    const port = await serve(100);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.add(socket.on('error', () => undefined));
    await once(socket, 'connect');
    await vi.waitFor(() => expect(accepted[0]?.destroyed).toBe(true));
  });

  it('is cut off after 32 MiB', async () => {
    const port = await serve(60_000);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.add(socket.on('error', () => undefined));
    await once(socket, 'connect');
    pump(socket);
    await vi.waitFor(() => expect(accepted[0]?.destroyed).toBe(true));
    expect(accepted[0]!.bytesRead).toBeGreaterThan(32 * MIB);
    expect(accepted[0]!.bytesRead).toBeLessThan(33 * MIB);
  });

  it('shares 6.25 MiB per second with all others, after 10 MiB', async () => {
    const port = await serve(60_000);
    const began = performance.now();
    for (let n = 0; n < 20; n++) {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      sockets.add(socket.on('error', () => undefined));
      await once(socket, 'connect');
      pump(socket);
    }
    // Each gets its turn, however busy the machine is.
    await vi.waitFor(() => expect(accepted.filter(({ bytesRead }) => bytesRead > 0)).toHaveLength(20));
    await sleep(1_000);
    const read = accepted.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    const seconds = (performance.now() - began) / 1_000;
    // Each connection may read once beyond the allowance.
    expect(read).toBeLessThan(10 * MIB + 6.25 * MIB * seconds + 20 * 65_536 + 2 * MIB);
  });

  it('is limited to 256 connections: one more closes the oldest', async () => {
    const port = await serve(60_000);
    const clients: Socket[] = [];
    for (let n = 0; n < 257; n++) {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      clients.push(socket.on('error', () => undefined));
      sockets.add(socket);
      await once(socket, 'connect');
    }
    await vi.waitFor(() => expect(accepted).toHaveLength(257));
    await vi.waitFor(() => expect(accepted.filter(({ destroyed }) => destroyed)).toEqual([accepted[0]]));
  });
});
