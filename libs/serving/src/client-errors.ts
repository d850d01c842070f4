import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import type { Log } from '@app/logging';
import type { HttpFault } from './malformed.js';
import { owedOn } from './once-closed.js';

/** A complete response to input that is not a request. */
export interface RawResponse {
  status: number;
  /** With the Content-Type of the body. */
  headers: Record<string, string>;
  body: string;
}

/** The fault of input that Node's parser rejects. https://nodejs.org/api/http.html#event-clienterror */
function explain(code: string | undefined): HttpFault {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, message: 'The request line and headers are larger than 16 KiB.' };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: 'The request did not arrive in time.' };
  return { status: 400, message: 'This is not a valid HTTP/1.1 request.' };
}

/** How long a client that was too slow, or sent no valid request, has to read its response (ms). */
const LINGER = 1_000;

/** Gives the responses of Node itself the body, request id and log line that all others have. */
export function answerClientErrors(server: Server, log: Log, render: (fault: HttpFault) => RawResponse): void {
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    const hasBegun = owedOn(socket).some(({ headersSent }) => headersSent);
    // After a response has begun, clients would read another one as part of it.
    if (code === 'ECONNRESET' || !socket.writable || hasBegun) {
      socket.destroy();
      return;
    }
    const { status, headers, body } = render(explain(code));
    const requestId = uuidv7();
    const ours = { 'X-Request-Id': requestId, 'Content-Length': Buffer.byteLength(body) };
    const all = Object.entries({ Connection: 'close', ...headers, ...ours });
    const lines = all.map(([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER).unref();
    log.pino.info({ request_id: requestId, route: 'none', status, fault: code }, 'request');
  });
}
