import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Once the server closes (ms): how often connections are looked at, … */
const SWEEP = 100;
/** … how long one may still take to get its request through, and … */
const ARRIVAL = 1_000;
/** … when all that are left are cut. Container platforms kill after 10 s at the earliest. */
const GRACE = 8_000;

/** Node keeps the answer that a connection is busy with here. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/**
 * A server that closes answers the requests in flight, tells each client that the connection ends with that answer, and
 * is gone as soon as the last one is out. Node alone would wait for connections to idle out, or for a socket that never
 * sent anything, and reset those that another request was just sent on.
 */
export function drainOnClose(server: Server): void {
  const sockets = new Set<HttpSocket>();
  server.on('connection', (socket: HttpSocket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const close = server.close.bind(server);
  server.close = (done) => {
    const began = Date.now();
    server.prependListener('request', (_request, response) => sayGoodbye(response));
    for (const socket of sockets) if (socket._httpMessage) sayGoodbye(socket._httpMessage);
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      const waited = Date.now() - began;
      for (const socket of sockets) {
        if (waited > GRACE || (waited > ARRIVAL && !socket._httpMessage)) socket.destroy();
      }
    }, SWEEP);
    server.once('close', () => clearInterval(sweep));
    return close(done);
  };
}

function sayGoodbye(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
