import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The callbacks of an answer until it is out. */
const CALLBACKS = Symbol('callbacks');
type Answer = ServerResponse & { [CALLBACKS]?: (() => void)[] };

/** Answers that are not out yet. */
const pending = new WeakMap<Socket, Set<Answer>>();

/**
 * Calls back once, when the answer is out or can no longer be sent. An answer that waits behind another one of its
 * connection never hears that the connection ended, so the socket is listened to as well: once for each connection,
 * however many requests it carries.
 */
export function onceClosed(response: Answer, done: () => void): void {
  const { socket } = response.req;
  const callbacks = response[CALLBACKS];
  if (socket.destroyed) {
    done();
  } else if (callbacks) {
    callbacks.push(done);
  } else {
    response[CALLBACKS] = [done];
    answersOf(socket).add(response);
    response.once('close', () => {
      close(response);
    });
  }
}

function answersOf(socket: Socket): Set<Answer> {
  let answers = pending.get(socket);
  if (!answers) {
    const all = (answers = new Set());
    pending.set(socket, all);
    socket.once('close', () => {
      for (const response of all) close(response);
    });
  }
  return answers;
}

function close(response: Answer): void {
  const callbacks = response[CALLBACKS];
  if (!callbacks) return;
  response[CALLBACKS] = undefined;
  pending.get(response.req.socket)?.delete(response);
  for (const done of callbacks) done();
}
