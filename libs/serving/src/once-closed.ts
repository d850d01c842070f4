import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Callbacks = Map<ServerResponse, (() => void)[]>;

/** The responses that each connection still owes, of those that somebody waits for. */
const owed = new WeakMap<Socket, Callbacks>();

/**
 * Calls back once, when the response is sent or can no longer be. One that waits behind another does not learn that its connection ended,
 * so this also listens to the socket.
 */
export function onceClosed(response: ServerResponse, done: () => void): void {
  const { socket } = response.req;
  if (socket.destroyed) {
    done();
    return;
  }
  const responses = owed.get(socket) ?? watch(socket);
  const callbacks = responses.get(response);
  if (callbacks) {
    callbacks.push(done);
    return;
  }
  responses.set(response, [done]);
  response.once('close', () => {
    settle(responses, response);
  });
}

/** The responses that a connection still owes. */
export const owedOn = (socket: Socket): ServerResponse[] => [...(owed.get(socket)?.keys() ?? [])];

function watch(socket: Socket): Callbacks {
  const responses: Callbacks = new Map();
  owed.set(socket, responses);
  socket.once('close', () => {
    for (const response of responses.keys()) settle(responses, response);
  });
  return responses;
}

function settle(responses: Callbacks, response: ServerResponse): void {
  const callbacks = responses.get(response) ?? [];
  responses.delete(response);
  for (const done of callbacks) done();
}
