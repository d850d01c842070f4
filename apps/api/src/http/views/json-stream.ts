import { once } from 'node:events';
import type { Response } from 'express';
import { onceClosed } from '@app/serving';

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
      // The server's timeout cuts a client that takes nothing for 30 s, which also ends this wait.
      if (!response.write(Buffer.from(piece))) await once(response, 'drain', closed).catch(() => undefined);
      if (closed.signal.aborted) return;
    }
    response.end();
  }
}
