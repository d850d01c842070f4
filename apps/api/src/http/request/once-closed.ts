import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is to be called when an answer is out: on the answer itself, where a WeakMap would cost the garbage collector more. */
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
  if (!pending.get(response.req.socket)?.delete(response)) return;
  for (const done of response[CALLBACKS]!) done();
}
