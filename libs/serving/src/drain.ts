import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { connectionsOf, type HttpSocket } from './connections.js';

/** Once the server closes (ms): how often connections are looked at, … */
const SWEEP = 100;
/** … how long one that is quiet, without a request, may still bring one, and the listener may find new ones waiting, … */
const QUIET = 1_000;
/** … and when all that are left are cut: a little more than any answer takes. */
export const GRACE = 6_500;

const announced = new WeakSet<Server>();

/** From now on each answer says that it is the last one of its connection, so that clients and proxies come back elsewhere. */
export function announceClose(server: Server): void {
  if (announced.has(server)) return;
  announced.add(server);
  server.prependListener('request', (_request, response) => {
    sayGoodbye(response);
  });
  for (const { _httpMessage: response } of connectionsOf(server)) if (response) sayGoodbye(response);
}

/**
 * A server that closes answers the requests in flight, and is gone soon after the last one is out. Node alone resets
 * connections that a client is just sending on, cuts answers that are not read yet, and waits a minute for those that come
 * to rest later, or that never sent anything.
 */
export function drainOnClose(server: Server): void {
  const connections = connectionsOf(server);
  let accepted = 0;
  server.on('connection', () => accepted++);
  server.close = (done) => {
    const began = Date.now();
    const quietSince = new WeakMap<HttpSocket, { bytesRead: number; at: number }>();
    const isQuiet = (socket: HttpSocket, now: number): boolean => {
      const before = quietSince.get(socket);
      if (!socket._httpMessage && before?.bytesRead === socket.bytesRead) return now - before.at > QUIET;
      quietSince.set(socket, { bytesRead: socket.bytesRead, at: now });
      return false;
    };
    const sweep = () => {
      const now = Date.now();
      for (const socket of connections) if (now - began > GRACE || isQuiet(socket, now)) socket.destroy();
    };
    // Immediates come right after the loop has read what has arrived: a request that is already here is never cut.
    const timer = setInterval(() => setImmediate(sweep), SWEEP);
    server.once('close', () => {
      clearInterval(timer);
    });
    // Connections that wait to be accepted, one in each turn of the loop, would be reset with the listener.
    const closeListener = (before: number) => {
      if (accepted !== before && Date.now() - began < QUIET) {
        setImmediate(closeListener, accepted);
      } else {
        // Past http's own close, which would destroy every connection that is idle at this very moment.
        NetServer.prototype.close.call(server, done);
        // Not before: who is told so comes back at once, and would find the listener just closing.
        announceClose(server);
      }
    };
    setImmediate(closeListener, -1);
    return server;
  };
}

function sayGoodbye(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
