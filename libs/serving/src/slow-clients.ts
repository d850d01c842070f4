import type { IncomingMessage, Server } from 'node:http';
import { bodyLengthOf } from './body-length.js';
import { connectionsOf, type HttpSocket } from './connections.js';

/** Time limits for slow clients, in milliseconds. */
export interface SlowClientLimits {
  /** For the headers of a request. */
  headers: number;
  /** For a whole request. */
  body: number;
  /** For a request that uploads a file. */
  upload: number;
  /** How long a client may take less than {@link ENOUGH} bytes of a waiting response. */
  stall: number;
  /** For a whole response: the largest possible one (240 MB) at 0.8 MB/s, or a usual large page (4 MB) at 14 kB/s. */
  answer: number;
  /**
   * How often the limits are checked. A check cuts all clients that are due, and other requests wait for it. Beside 2,200
   * slow clients, their p99 was twice that of an idle server when checked every 2 s, and 1.4 times every 0.5 s.
   */
  check: number;
}

export const SLOW_CLIENT_LIMITS: SlowClientLimits = {
  headers: 10_000,
  body: 30_000,
  upload: 60_000,
  stall: 30_000,
  answer: 300_000,
  check: 500,
};

/** While a client reads, the kernel takes more in steps of a third of its buffer: about 30 kB or more. */
const ENOUGH = 16_384;

/** How much of its response a connection has taken. */
interface Progress {
  answer: unknown;
  began: number;
  /** When it last had taken enough, and how many bytes by then. */
  at: number;
  taken: number;
}

const uploads = new WeakSet<IncomingMessage>();

/** Allows this request's body as much time as an upload. */
export function expectUpload(request: IncomingMessage): void {
  uploads.add(request);
}

/** Cuts off clients that hold a connection longer than an honest one would: they cost memory and places in queues. */
export function cutSlowClients(server: Server, limits: SlowClientLimits): void {
  // Node itself enforces the limit for headers. For whole requests it has only one limit for all.
  server.headersTimeout = limits.headers;
  server.requestTimeout = limits.upload;
  // Node reads this property in listen().
  Object.assign(server, { connectionsCheckingInterval: limits.check });

  const connections = connectionsOf(server);
  const bodies = new Map<HttpSocket, { request: IncomingMessage; began: number }>();
  server.prependListener('request', (request: IncomingMessage) => {
    if (bodyLengthOf(request) > 0) bodies.set(request.socket, { request, began: performance.now() });
  });
  const readers = new WeakMap<HttpSocket, Progress>();

  const sweep = () => {
    // A timer may fire a moment too soon.
    const now = performance.now() + limits.check / 2;
    for (const [socket, { request, began }] of bodies) {
      const over = request.complete || socket.destroyed;
      if (!over && now - began < (uploads.has(request) ? limits.upload : limits.body)) continue;
      bodies.delete(socket);
      if (over) continue;
      // Does the same as Node at its own limit: the response is 408 if possible.
      server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    }
    for (const socket of connections) {
      // Reset, not close: the kernel would hold the unread bytes for minutes more.
      if (!keepsUp(socket, readers, now, limits)) socket.resetAndDestroy();
    }
  };
  server.once('listening', () => {
    const timer = setInterval(sweep, limits.check).unref();
    server.once('close', () => {
      clearInterval(timer);
    });
  });
}

/** Whether the client takes its response fast enough. Our own delays count only towards the whole response's limit. */
function keepsUp(
  socket: HttpSocket,
  readers: WeakMap<HttpSocket, Progress>,
  now: number,
  { stall, answer }: SlowClientLimits,
): boolean {
  const { _httpMessage: response, _handle: handle } = socket;
  if (!response?.headersSent || !handle) {
    readers.delete(socket);
    return true;
  }
  const taken = handle.bytesWritten - handle.writeQueueSize;
  let progress = readers.get(socket);
  if (progress?.answer !== response) {
    progress = { answer: response, began: now, at: progress?.at ?? now, taken: progress?.taken ?? taken };
    readers.set(socket, progress);
  }
  if (socket.writableLength === 0 || taken - progress.taken >= ENOUGH) Object.assign(progress, { at: now, taken });
  return now - progress.at < stall && now - progress.began < answer;
}
