import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection of a server, with what Node keeps to itself: the answer it is busy with, and what the kernel has taken. */
export type HttpSocket = Socket & {
  _httpMessage?: ServerResponse | null;
  _handle?: { bytesWritten: number; writeQueueSize: number } | null;
};

const known = new WeakMap<Server, Set<HttpSocket>>();

/** The open connections of a server that does not listen yet. */
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
