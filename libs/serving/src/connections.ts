import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A server's connection with Node's private fields: the current response, and how much the kernel has taken. */
export type HttpSocket = Socket & {
  _httpMessage?: ServerResponse | null;
  _handle?: { bytesWritten: number; writeQueueSize: number } | null;
};

const known = new WeakMap<Server, Set<HttpSocket>>();

/** The open connections of a server. Call it before the server listens. */
export function connectionsOf(server: Server): ReadonlySet<HttpSocket> {
  const sockets = known.get(server) ?? new Set<HttpSocket>();
  if (!known.has(server)) {
    known.set(server, sockets);
    server.on('connection', (socket: HttpSocket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  }
  return sockets;
}
