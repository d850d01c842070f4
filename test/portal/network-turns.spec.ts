import { once } from 'node:events';
import { createServer, get, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { loadEnv } from '@app/config';
import { NetworkTurns } from '../../apps/portal/src/web/network-turns.js';
import { BUSY } from '../../apps/portal/src/web/page-error.js';

/** The requests of a network are worked on one at a time. The turns alone, behind a server without Express. */
const QUEUE = 100;

const turns = new NetworkTurns(
  loadEnv({ NODE_ENV: 'test', TRUST_PROXY: 'true', PORTAL_REQUESTS_PER_MINUTE: '1000000' }, {}),
);
/** Requests by path: arrived, being worked on, and refused. */
const arrived = new Map<string, IncomingMessage>();
const begun = new Map<string, ServerResponse>();
const refused = new Map<string, unknown>();
const clients: ClientRequest[] = [];

const server = createServer((request, response) => {
  const path = request.url!;
  arrived.set(path, request);
  turns.take(request as never, response as never, () => begun.set(path, response)).catch((error: unknown) => {
    refused.set(path, error);
    response.end();
  });
}); // prettier-ignore

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterEach(() => {
  vi.useRealTimers();
  for (const client of clients.splice(0)) client.destroy();
  for (const calls of [arrived, begun, refused]) calls.clear();
});
afterAll(() => server.close());

/** Waits for the condition. Unlike vi.waitFor, it does not advance time that is frozen. */
async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!condition() && performance.now() < end) await nextIteration();
  expect(condition()).toBe(true);
}

/** Sends a request on a connection of its own and waits until it has arrived. */
async function send(path: string, network: string): Promise<ClientRequest> {
  const { port } = server.address() as AddressInfo;
  const client = get({ port, path, agent: false, headers: { 'X-Forwarded-For': network } }).on('error', () => undefined);
  clients.push(client);
  await until(() => arrived.has(path));
  await nextIteration();
  return client;
} // prettier-ignore

const working = () => [...begun.keys()];
const isWorking = (path: string) => until(() => begun.has(path));

/** Freezes the time that limits turns. */
const freeze = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

it('a network waits for itself, and others need not wait for it', async () => {
  freeze();
  for (const path of ['/1', '/2', '/3']) await send(path, '198.51.100.1');
  await send('/other', '198.51.100.2');
  expect(working()).toEqual(['/1', '/other']);
  begun.get('/1')!.end();
  await isWorking('/2');
  expect(working()).not.toContain('/3');
  begun.get('/2')!.end();
  await isWorking('/3');
});

it('a request that takes long keeps its network waiting for 50 ms', async () => {
  freeze();
  for (const path of ['/slow', '/next']) await send(path, '198.51.100.3');
  vi.advanceTimersByTime(49);
  await nextIteration();
  expect(working()).toEqual(['/slow']);
  vi.advanceTimersByTime(1);
  await isWorking('/next');
  // The end of its response does not end the turn of another request.
  begun.get('/slow')!.end();
  await send('/last', '198.51.100.3');
  expect(working()).toEqual(['/slow', '/next']);
});

it('a request whose client has left is not worked on', async () => {
  freeze();
  await send('/first', '198.51.100.4');
  const left = await send('/left', '198.51.100.4');
  await send('/last', '198.51.100.4');
  const { socket } = arrived.get('/left')!;
  left.destroy();
  await until(() => socket.destroyed);
  begun.get('/first')!.end();
  await isWorking('/last');
  expect(working()).not.toContain('/left');
});

it('requests beyond the queue are refused, those of others and health checks are not', async () => {
  freeze();
  for (let count = 0; count <= QUEUE; count++) await send(`/${count}`, '198.51.100.5');
  expect(working()).toEqual(['/0']);
  expect([...refused]).toEqual([[`/${QUEUE}`, BUSY]]);
  await send('/other', '198.51.100.6');
  await send('/health/ready', '198.51.100.5');
  expect(working()).toEqual(['/0', '/other', '/health/ready']);
});
