import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { bodyLengthOf } from './body-length.js';

/** A body of at most this many bytes is read to its end, to keep the connection. */
const SHORT_BODY = 65_536;

/**
 * A connection is cut after this long, or after this many bytes. Both are enough for a client that reads its response
 * only after it has sent the largest upload (10 MB) at 20 Mbit/s.
 */
const MOST_MS = 5_000;
const MOST_BYTES = 32 * 1_048_576;

/**
 * How long a lingering connection is not read (ms). Most clients notice the response while they send, and close by
 * themselves: reading what they sent in between would be wasted.
 */
const GRACE_MS = 250;

/**
 * Lingering connections of this process. One more cuts the oldest, which has had the most time to read. Each takes some
 * 20 kB of the heap; a thousand made the heap grow by a third, and V8 collect it a third more often.
 */
const MOST_CONNECTIONS = 256;

/**
 * The process discards 6.25 MiB/s in total, after the largest upload at any speed. Each read allocates a buffer, which V8
 * has to collect.
 */
const TICK_MS = 20;
const BYTES_PER_TICK = 131_072;
const MOST_ALLOWANCE = 10 * 1_048_576;
/** Node reads this much of a connection at once. */
const ONE_READ = 65_536;

/** The lingering connections, and how many ticks each of them has left. */
const lingering = new Map<Socket, number>();
/** Connections waiting for their turn to be read, the longest-waiting first. */
const paused: Socket[] = [];
let allowance = MOST_ALLOWANCE;
let timer: NodeJS.Timeout | undefined;

/**
 * Called before the head of each response is sent. If the request's body is still arriving, the connection ends with
 * the response unless the rest is short. It then lingers, so that the client can read the response.
 */
export function closeUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.headersSent || bodyLengthOf(request) === 0) return;
  // Node itself discards a body that nobody has begun to read.
  if (isLong(request) || request.readableFlowing !== null) {
    response.setHeader('Connection', 'close');
    stopReading(request);
  }
  lingerOnClose(request.socket, () => !request.complete);
}

/**
 * Stops reading a long body until it is needed. Node would read another 64 KiB meanwhile, which a refused request would keep
 * for as long as its connection lingers.
 */
export function holdBody(request: IncomingMessage): void {
  if (isLong(request)) request.socket.pause();
}

/** Whether a body may be too long to be read to its end. */
function isLong(request: IncomingMessage): boolean {
  return bodyLengthOf(request) > SHORT_BODY;
}

/**
 * Reads no more of a body that nobody wants. Each piece of 64 KiB takes memory outside V8's heap, and a few dozen of
 * them trigger a collection of the whole heap. `_dumped` keeps Node from resuming the connection after the response to
 * discard the body: a refusal took 0.71 ms of CPU and takes 0.56 ms with it.
 */
function stopReading(request: IncomingMessage): void {
  request.socket.pause();
  Object.assign(request, { _dumped: true });
}

/** Makes the server linger when it closes this connection, if that is needed by then. */
export function lingerOnClose(socket: Socket, isNeeded: () => boolean): void {
  socket.destroySoon = () => {
    if (isNeeded()) linger(socket);
    else Socket.prototype.destroySoon.call(socket);
  };
}

/**
 * Lingering close (RFC 9112, 9.6): after the response we end our side, then read and discard what the client still
 * sends, within limits. Closing a connection with unread bytes at once would reset it, and a client that is sending
 * would lose the response.
 *
 * @param ms when the connection is cut
 */
export function linger(socket: Socket, ms = MOST_MS): void {
  if (socket.destroyed || lingering.has(socket)) return;
  if (lingering.size >= MOST_CONNECTIONS) cutOldest();
  lingering.set(socket, Math.ceil(ms / TICK_MS));
  timer ??= setInterval(tick, TICK_MS).unref();
  socket.end();
  let left = MOST_BYTES;
  const discard = (chunk: Buffer) => {
    left -= chunk.length;
    allowance -= chunk.length;
    if (left < 0) socket.destroy();
    else if (allowance < 0) wait(socket);
  };
  // A listener detaches the connection from Node's parser. Afterwards only ours may be left.
  socket.pause().on('data', discard).removeAllListeners('data').on('data', discard);
  socket.once('end', () => socket.destroy());
  socket.once('close', () => {
    lingering.delete(socket);
    if (lingering.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    allowance = MOST_ALLOWANCE;
    paused.length = 0;
  });
  setTimeout(wait, GRACE_MS, socket).unref();
}

function cutOldest(): void {
  const [oldest] = lingering.keys();
  lingering.delete(oldest!);
  oldest!.destroy();
}

function wait(socket: Socket): void {
  if (socket.destroyed) return;
  socket.pause();
  paused.push(socket);
}

function tick(): void {
  allowance = Math.min(allowance + BYTES_PER_TICK, MOST_ALLOWANCE);
  // Unlike an iterator, this makes no array of each entry.
  lingering.forEach((ticks, socket) => {
    if (ticks > 0) lingering.set(socket, ticks - 1);
    else socket.destroy();
  });
  for (const socket of paused.splice(0, Math.max(0, Math.floor(allowance / ONE_READ)))) {
    if (socket.destroyed) continue;
    // The parser may have stopped a read that the stream takes to be in progress. This ends it, so that the next starts.
    socket.push('');
    socket.resume();
  }
}
