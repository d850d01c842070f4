import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingerOnClose } from './lingering-close.js';
import { onceClosed } from './once-closed.js';
import { afterRefusal, isRefusal } from './pause.js';

/** Requests that may wait behind another one on their connection; one more ends the connection. */
const MOST_WAITING = 100;

interface Line {
  busy: boolean;
  /** The connection is not read while requests wait. Other code pauses it too, for its own reasons. */
  paused: boolean;
  /** The connection ends after the waiting requests. */
  full: boolean;
  waiting: [IncomingMessage, ServerResponse][];
}

/**
 * Serves the requests of one connection one after the other. Node alone would start everything that a client has
 * pipelined at once, possibly thousands of requests, and all others would wait behind them. Responses go out in order
 * either way.
 *
 * @param admits returns whether to serve a request when its turn comes; otherwise answers it
 * @param refuse answers a request beyond the connection's limit and ends the connection
 * @param drop called with a request whose connection ends before its turn
 */
export function serveInTurn(
  server: Server,
  admits: (request: IncomingMessage, response: ServerResponse) => boolean,
  refuse: RequestListener,
  drop: RequestListener,
): void {
  const lines = new WeakMap<Socket, Line>();
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');

  // Must not reference the previous request: an error holds the functions on its stack, and would keep all requests of
  // the connection in memory.
  const proceed = (line: Line, socket: Socket) => {
    // Nobody will read their responses.
    if (socket.writableEnded || socket.destroyed) for (const dropped of line.waiting.splice(0)) drop(...dropped);
    line.busy = false;
    const next = line.waiting.shift();
    if (next) {
      serve(line, ...next);
    } else if (line.paused) {
      line.paused = false;
      socket.resume();
    }
  };

  const serve = (line: Line, request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    line.busy = true;
    onceClosed(response, () => {
      if (isRefusal(response.statusCode) && !socket.destroyed) afterRefusal.schedule(proceed, line, socket);
      else proceed(line, socket);
    });
    if (!admits(request, response)) return;
    for (const listener of listeners) listener.call(server, request, response);
  };

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    let line = lines.get(socket);
    if (!line) lines.set(socket, (line = { busy: false, paused: false, full: false, waiting: [] }));
    if (!line.busy) {
      serve(line, request, response);
    } else if (line.waiting.length < MOST_WAITING) {
      line.waiting.push([request, response]);
      // Requests that were already read from the connection still arrive.
      line.paused = true;
      socket.pause();
    } else if (!line.full) {
      line.full = true;
      response.shouldKeepAlive = false;
      lingerOnClose(socket, () => true);
      refuse(request, response);
    }
  });
}
