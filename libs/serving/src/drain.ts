import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { connectionsOf, type HttpSocket } from './connections.js';

/** How often connections are checked once the server closes (ms). */
const SWEEP = 100;
/** How long an idle connection may still bring a request, and the listener accepts waiting connections (ms). */
const QUIET = 1_000;
/** When all remaining connections are cut (ms): a little more than any response takes. */
export const GRACE = 6_500;

const announced = new WeakSet<Server>();

/** From now on each response closes its connection, so that clients and proxies reconnect elsewhere. */
export function announceClose(server: Server): void {
  if (announced.has(server)) return;
  announced.add(server);
  server.prependListener('request', (_request, response) => {
    sayGoodbye(response);
  });
  for (const { _httpMessage: response } of connectionsOf(server)) if (response) sayGoodbye(response);
}

/**
 * Lets a closing server finish the requests in flight, then end soon after the last one. Node alone would reset
 * connections on which a client is sending, cut responses that are not read yet, and wait a minute for connections that
 * become idle later or never sent anything.
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
    // An immediate runs right after the loop has read what arrived, so a request that is already here is never cut.
    const timer = setInterval(() => setImmediate(sweep), SWEEP);
    server.once('close', () => {
      clearInterval(timer);
    });
    // Connections that wait to be accepted, one in each turn of the loop, would be reset with the listener.
    const closeListener = (before: number) => {
      if (accepted !== before && Date.now() - began < QUIET) {
        setImmediate(closeListener, accepted);
      } else {
        // Not http's own close, which would destroy every connection that is idle at this moment.
        NetServer.prototype.close.call(server, done);
        // Not earlier: clients reconnect at once, and would meet the listener while it closes.
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
