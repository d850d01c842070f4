import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is to be called when a connection ends. */
const open = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once, when the answer is out or can no longer be sent. An answer that waits behind another one of its
 * connection never hears that the connection ended, so the socket is listened to as well: once for each connection,
 * however many requests it carries.
 */
export function onceClosed(response: ServerResponse, done: () => void): void {
  const { socket } = response.req;
  if (socket.destroyed) {
    done();
    return;
  }
  let waiting = open.get(socket);
  if (!waiting) {
    const pending = new Set<() => void>();
    socket.once('close', () => {
      for (const end of pending) end();
    });
    open.set(socket, (waiting = pending));
  }
  const end = () => {
    if (waiting.delete(end)) done();
  };
  waiting.add(end);
  response.once('close', end);
}
