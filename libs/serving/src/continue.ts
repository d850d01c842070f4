import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Sends `100 Continue`, for requests whose clients wait for it before they send the body. */
const waiting = new WeakMap<IncomingMessage, () => void>();

/**
 * Handles `Expect: 100-continue`. A body is requested only when it is about to be read, so a client without a key or
 * scope is refused before it sends anything. Node alone would request it at once.
 */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET' || request.method === 'HEAD') {
      response.writeContinue();
    } else {
      // A client that is refused first may send the body or not, so the connection cannot be reused.
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

/** Requests the body if the client waits for that. Call it before reading a body. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.();
  waiting.delete(request);
}
