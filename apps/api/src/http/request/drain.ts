import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** Once the server closes (ms): how often connections are looked at, … */
const SWEEP = 100;
/** … how long one without a request may still bring one, … */
const ARRIVAL = 1_000;
/** … and when all that are left are cut. Container platforms kill after 10 s at the earliest. */
const GRACE = 8_000;

/** Node keeps the answer that a connection is busy with here. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/**
 * A server that closes answers the requests in flight, tells each client that the connection ends with that answer, and
 * is gone soon after the last one is out. Node alone resets connections that a client is just sending on, cuts answers
 * that are not read yet, and waits a minute for those that come to rest later, or that never sent anything.
 */
export function drainOnClose(server: Server): void {
  const sockets = new Set<HttpSocket>();
  server.on('connection', (socket: HttpSocket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.close = (done) => {
    const began = Date.now();
    server.prependListener('request', (_request, response) => {
      sayGoodbye(response);
    });
    for (const socket of sockets) if (socket._httpMessage) sayGoodbye(socket._httpMessage);
    const sweep = setInterval(() => {
      const waited = Date.now() - began;
      for (const socket of sockets) {
        if (waited > GRACE || (waited > ARRIVAL && !socket._httpMessage)) socket.destroy();
      }
    }, SWEEP);
    server.once('close', () => {
      clearInterval(sweep);
    });
    // Past http's own close, which would destroy every connection that is idle at this very moment.
    NetServer.prototype.close.call(server, done);
    return server;
  };
}

function sayGoodbye(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
