import { once } from 'node:events';
import type { Response } from 'express';
import { onceClosed } from '../request/once-closed.js';

/** JSON that is written piece by piece, each when the client has taken the one before. */
export class JsonStream {
  constructor(private readonly pieces: AsyncIterable<string>) {}

  /** @throws whatever a piece fails with; the first one fails before anything is sent */
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
      // A client that takes nothing for 30 s is cut by the server's timeout, which ends this wait too.
      if (!response.write(Buffer.from(piece))) await once(response, 'drain', closed).catch(() => undefined);
      if (closed.signal.aborted) return;
    }
    response.end();
  }
}
