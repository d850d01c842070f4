import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { owedOn } from './once-closed.js';

/** How often connections are checked once the server closes (ms). */
const SWEEP = 100;
/** How long an idle connection may still bring a request, and the listener accepts waiting connections (ms). */
const QUIET = 1_000;
/** When all remaining connections are cut (ms): a little more than any response takes. */
export const GRACE = 6_500;

/**
 * Lets a server finish the requests in flight, then ends. Node alone would reset connections on which a client is sending, cut responses that
 * are not read yet, and wait a minute for idle ones.
 */
export class Drain {
  private readonly connections = new Set<Socket>();
  private accepted = 0;
  private announced = false;

  /** Create it before the server listens. */
  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.accepted++;
      this.connections.add(socket);
      socket.once('close', () => this.connections.delete(socket));
    });
  }

  /** From now on each response closes its connection, so that clients and proxies reconnect elsewhere. */
  announce(): void {
    if (this.announced) return;
    this.announced = true;
    this.server.prependListener('request', (_request, response) => {
      sayGoodbye(response);
    });
    for (const socket of this.connections) for (const response of owedOn(socket)) sayGoodbye(response);
  }

  /** Resolves when the last connection has ended. */
  close(): Promise<void> {
    const began = Date.now();
    const quietSince = new WeakMap<Socket, { bytesRead: number; at: number }>();
    const isQuiet = (socket: Socket, now: number): boolean => {
      const before = quietSince.get(socket);
      if (owedOn(socket).length === 0 && before?.bytesRead === socket.bytesRead) return now - before.at > QUIET;
      quietSince.set(socket, { bytesRead: socket.bytesRead, at: now });
      return false;
    };
    const sweep = () => {
      const now = Date.now();
      for (const socket of this.connections) if (now - began > GRACE || isQuiet(socket, now)) socket.destroy();
    };
    // An immediate runs right after the loop has read what arrived, so a request that is already here is never cut.
    const timer = setInterval(() => setImmediate(sweep), SWEEP);
    return new Promise((resolve) => {
      const done = () => {
        clearInterval(timer);
        resolve();
      };
      // Connections that wait to be accepted, one in each turn of the loop, would be reset with the listener.
      const closeListener = (before: number) => {
        if (this.accepted !== before && Date.now() - began < QUIET) {
          setImmediate(closeListener, this.accepted);
        } else {
          // Not http's own close, which would destroy every connection that is idle at this moment.
          NetServer.prototype.close.call(this.server, done);
          // Not earlier: clients reconnect at once, and would meet the listener while it closes.
          this.announce();
        }
      };
      setImmediate(closeListener, -1);
    });
  }
}

function sayGoodbye(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
