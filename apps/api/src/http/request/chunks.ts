import type { IncomingMessage, Server } from 'node:http';

/** Chunks of a body after which other requests have their turn; Node parses them at some 3 µs each. */
const AT_A_TIME = 1_000;

/** Pieces of a body that are kept apart: each costs some 300 bytes, however short it is. */
const APART = 1_000;

/**
 * A body in chunks of a byte is parsed a thousand times slower than others, and Node reads 2 MiB of a connection before it
 * looks at the next: some 350,000 chunks, a second. Reading such a connection pauses in between.
 */
export function paceChunks(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (request.headers['transfer-encoding'] === undefined) return;
    const { socket } = request;
    const push = request.push.bind(request);
    let chunks = 0;
    // The parser calls this for each chunk, whoever reads the body or does not.
    request.push = (chunk, encoding) => {
      if (++chunks % AT_A_TIME === 0 && !socket.isPaused()) {
        socket.pause();
        setImmediate(() => {
          // Where nobody takes what is there already, whoever does goes on.
          if (request.readableLength < request.readableHighWaterMark) socket.resume();
        });
      }
      return push(chunk, encoding);
    };
  });
}

/** A body's bytes, in memory of their own length, whatever pieces they come in. */
export class Pieces {
  private readonly joined: Buffer[] = [];
  private recent: Buffer[] = [];

  add(piece: Buffer): void {
    this.recent.push(piece);
    if (this.recent.length < APART) return;
    this.joined.push(Buffer.concat(this.recent));
    this.recent = [];
  }

  join(): Buffer {
    return Buffer.concat([...this.joined, ...this.recent]);
  }
}
