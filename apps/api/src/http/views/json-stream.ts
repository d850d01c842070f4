import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import { onceClosed } from '@app/serving';

/** Characters written at once. A record may have megabytes, and other requests are served in between. */
const AT_ONCE = 65_536;

/** JSON that is written piece by piece, each once the client has taken the previous one. */
export class JsonStream {
  constructor(private readonly pieces: AsyncIterable<string>) {}

  /** @throws the error of a piece; if the first one fails, nothing has been sent */
  async sendTo(response: Response): Promise<void> {
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    const closed = new AbortController();
    onceClosed(response, () => {
      closed.abort();
    });
    for await (const piece of this.pieces) {
      for (let from = 0, to = 0; from < piece.length; from = to) {
        if (from > 0) await setImmediate();
        to = boundaryIn(piece, from + AT_ONCE);
        // The server's timeout cuts a client that takes nothing for 30 s, which also ends this wait.
        if (!response.write(Buffer.from(piece.slice(from, to)))) {
          await once(response, 'drain', closed).catch(() => undefined);
        }
        if (closed.signal.aborted) return;
      }
    }
    response.end();
  }
}

/** The index itself, or the one after it if a character of two units would be cut there. */
function boundaryIn(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index + 1 : index;
}
