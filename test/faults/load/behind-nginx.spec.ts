import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { TestNginx } from '../../support/load/nginx.js';
import { exchange } from '../../support/http/raw-http.js';
import { freePorts } from '../../support/process/free-ports.js';
import { PASSWORD, TestPortal } from '../../support/portal/portal.js';

/** What docs/nginx.md says that nginx does for the service. */
interface Arrived {
  path: string;
  headers: IncomingMessage['headers'];
  bytes: number;
}

/** Requests in the order in which their headers arrived at the process behind nginx. */
const arrived: Arrived[] = [];
/** Paths whose answers nginx has taken completely. */
const taken: string[] = [];
/** More than the buffers of two connections and nginx's memory for an answer hold. */
const LARGE = 50_000_000;

const api = createServer((request, response) => {
  // The script that watches the processes.
  if (request.url === '/health/ready') return void response.end();
  const it: Arrived = { path: request.url!, headers: request.headers, bytes: 0 };
  arrived.push(it);
  response.on('finish', () => taken.push(it.path));
  request.on('data', (chunk: Buffer) => (it.bytes += chunk.length));
  request.on('end', () => response.end(it.path === '/large' ? Buffer.alloc(LARGE) : it.path));
});

let portal: TestPortal;
let nginx: TestNginx;

beforeAll(async () => {
  await once(api.listen(0, '127.0.0.1'), 'listening');
  portal = await TestPortal.start({ TRUST_PROXY: 'true' });
  nginx = await TestNginx.start(await freePorts(2), [(api.address() as AddressInfo).port], undefined, portal.port);
});
afterAll(async () => {
  await nginx.stop();
  await portal.stop();
  api.closeAllConnections();
  api.close();
});
beforeEach(() => {
  arrived.length = 0;
  taken.length = 0;
});

const paths = () => arrived.map(({ path }) => path);
const get = (path: string) => fetch(`http://127.0.0.1:${nginx.port}${path}`).then((answer) => answer.text());

/** A connection to nginx that has sent these bytes. */
async function send(bytes: string): Promise<Socket & { text: string }> {
  const socket = Object.assign(connect(nginx.port, '127.0.0.1'), { text: '' });
  await once(socket, 'connect');
  socket.setEncoding('latin1').write(bytes, 'latin1');
  return socket;
}

function read(socket: Socket & { text: string }): Socket & { text: string } {
  return socket.on('data', (text: string) => (socket.text += text));
}

describe('behind nginx', () => {
  it('a slow body reaches the process only once it is complete', async () => {
    const slow = read(await send('POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345'));
    for (let n = 0; n < 20; n++) expect(await get('/quick')).toBe('/quick');
    expect(paths()).not.toContain('/slow');
    slow.write('67890');
    await vi.waitFor(() => expect(slow.text).toContain('/slow'));
    expect(arrived.at(-1)).toMatchObject({ path: '/slow', bytes: 10 });
    slow.destroy();
  });

  it('chunks and Expect end there', async () => {
    const head = 'POST /chunks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n';
    const socket = read(await send(head));
    await vi.waitFor(() => expect(socket.text).toBe('HTTP/1.1 100 Continue\r\n\r\n'));
    expect(arrived).toEqual([]);
    socket.write(`${'1\r\na\r\n'.repeat(1_000)}0\r\n\r\n`);
    await vi.waitFor(() => expect(socket.text).toContain('/chunks'));
    expect(arrived).toEqual([{ path: '/chunks', headers: expect.objectContaining({ 'content-length': '1000' }) as object, bytes: 1_000 }]); // prettier-ignore
    expect(Object.keys(arrived[0]!.headers)).not.toContain('transfer-encoding');
    expect(Object.keys(arrived[0]!.headers)).not.toContain('expect');
    socket.destroy();
  });

  it('an answer is taken at once, however slowly its client reads', async () => {
    const socket = await send('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await vi.waitFor(() => expect(taken).toEqual(['/large']));
    expect(socket.bytesRead).toBeLessThan(LARGE / 2);
    let bytes = 0;
    socket.on('data', (text: string) => (bytes += text.length));
    await vi.waitFor(() => expect(bytes).toBeGreaterThan(LARGE));
    socket.destroy();
  });

  it('pipelined requests arrive one after another', async () => {
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const socket = await send(request('/large') + request('/next'));
    await vi.waitFor(() => expect(taken).toEqual(['/large']));
    expect(await get('/quick')).toBe('/quick');
    expect(paths()).toEqual(['/large', '/quick']);
    read(socket);
    await vi.waitFor(() => expect(socket.text.endsWith('/next')).toBe(true));
    socket.destroy();
  });

  it('the address and the scheme are those that nginx saw', async () => {
    const forged = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' };
    await fetch(`http://127.0.0.1:${nginx.port}/me`, { headers: forged });
    expect(arrived[0]!.headers).toMatchObject({
      host: `127.0.0.1:${nginx.port}`,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
    });
  });

  it('metrics and too large bodies get no further', async () => {
    for (const path of ['/metrics', '/metrics?x', '//metrics', '/%6detrics', '/v1/../metrics']) {
      const { status } = await exchange(nginx.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect([path, status]).toEqual([path, 404]);
    }
    const body = 'POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 12000000\r\n\r\n';
    expect((await exchange(nginx.port, body)).status).toBe(413);
    expect(arrived).toEqual([]);
  });

  it('the portal accepts the forms of its own pages only', async () => {
    const { user } = await portal.someone('owner');
    await portal.setPassword(user.id);
    const signIn = async (origin: string) => {
      const body = new URLSearchParams({ email: user.email, password: PASSWORD });
      const request = { method: 'POST', headers: { Origin: origin }, body, redirect: 'manual' } as const;
      return (await fetch(`http://127.0.0.1:${nginx.port + 1}/sign-in`, request)).status;
    };
    expect(await signIn(`http://127.0.0.1:${nginx.port + 1}`)).toBe(303);
    expect(await signIn(`http://127.0.0.1:${nginx.port}`)).toBe(403);
  });
});
