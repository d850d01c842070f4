import type { IncomingMessage, ServerResponse } from 'node:http';

/** How much of a refused body is read and dropped, because most clients only read the response after sending it. */
const MOST_DISCARDED = 32 * 1_048_576;

/** How long the answer is left standing before the connection of a body that is longer still is cut (ms). */
const LINGER = 1_000;

/** Drops the rest of a refused body, within limits of size and time. */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  let left = MOST_DISCARDED;
  const cut = () => {
    // Once the answer is out, Node takes in the rest by itself to keep the connection: not here.
    request.pause();
    setTimeout(() => request.socket.destroy(), LINGER).unref();
  };
  const stop = () => {
    request.pause();
    if (response.writableFinished) cut();
    else response.once('finish', cut);
  };
  if (Number(request.headers['content-length']) > MOST_DISCARDED) {
    stop();
    return;
  }
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) stop();
  });
  request.resume();
}
