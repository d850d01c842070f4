import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingerOnClose } from './lingering-close.js';
import { onceClosed } from './once-closed.js';

/** Requests that wait behind another one of their connection; with the next one the connection ends. */
const MOST_WAITING = 100;

/**
 * How long a connection rests after a refusal (429, 503) before its next request is handled (ms). A client that ignores
 * Retry-After could keep a core busy with refusals alone; this limits each of its connections to some 30 a second, answered
 * within 50 ms. The rests differ: connections that were refused together would come back together, and hold up everybody
 * else for as long as all of their refusals take.
 */
const SHORTEST_REST = 25;
const LONGEST_REST = 45;

const rest = () => SHORTEST_REST + Math.random() * (LONGEST_REST - SHORTEST_REST);

interface Line {
  busy: boolean;
  /** Its connection is not read until nothing waits. Others pause it too, for reasons of their own. */
  paused: boolean;
  /** The connection ends with what waits. */
  full: boolean;
  waiting: [IncomingMessage, ServerResponse][];
}

/**
 * Requests of one connection, one after the other. Node alone begins all that a client has pipelined at once, thousands of
 * them, and everybody else waits behind them; their answers go out in order anyway.
 *
 * @param admits whether a request is let in when its turn comes; answers it otherwise
 * @param refuse answers one that is too many for its connection, which ends with it
 * @param drop hears of one whose turn never comes, because its connection ends before
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

  // Knows nothing of the request before: an error that the next one meets holds the functions that it was thrown below,
  // and would keep all requests of the connection in memory.
  const proceed = (line: Line, socket: Socket) => {
    // Nobody will read their answers.
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
      const refused = response.statusCode === 429 || response.statusCode === 503;
      if (refused && !socket.destroyed) setTimeout(proceed, rest(), line, socket);
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
      // What was read of the connection already comes all the same.
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
