import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The callbacks of a response until it is sent. */
const CALLBACKS = Symbol('callbacks');
type Answer = ServerResponse & { [CALLBACKS]?: (() => void)[] };

/** Responses that are not sent yet. */
const pending = new WeakMap<Socket, Set<Answer>>();

/**
 * Calls back once, when the response is sent or can no longer be sent. A response that waits behind another one does
 * not learn that its connection ended, so this also listens to the socket: once per connection, however many requests
 * it carries.
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

/** The responses that a connection still owes, of those that {@link onceClosed} knows. */
export function owedOn(socket: Socket): ReadonlySet<ServerResponse> {
  return pending.get(socket) ?? new Set();
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
