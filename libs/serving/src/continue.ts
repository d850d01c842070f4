import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Requests whose clients wait for a word before they send the body: how to say it. */
const waiting = new WeakMap<IncomingMessage, () => void>();

/**
 * `Expect: 100-continue`: a write's body is asked for only when it is going to be read, so a client without a key or scope
 * is refused before it sends anything. Node alone would ask at once.
 */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET' || request.method === 'HEAD') {
      response.writeContinue();
    } else {
      // Refused before it was asked for the body, a client may send it or not: the connection cannot go on.
      const { shouldKeepAlive } = response;
      response.shouldKeepAlive = false;
      waiting.set(request, () => {
        response.shouldKeepAlive = shouldKeepAlive;
        response.writeContinue();
      });
    }
    server.emit('request', request, response);
  });
}

/** Asks for the body, if the client waits for that. Whoever reads a body calls this first. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.();
  waiting.delete(request);
}
