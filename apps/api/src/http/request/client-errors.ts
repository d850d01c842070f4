import type { Server } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import type { Log } from '@app/logging';
import type { HttpSocket } from './connections.js';
import { linger } from './lingering-close.js';
import { ApiError } from '../errors/api-error.js';
import { errorBody } from '../errors/error-formats.js';

/** What Node's parser refuses before there is a request. https://nodejs.org/api/http.html#event-clienterror */
function explain(code: string | undefined): { line: string; error: ApiError } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      line: '431 Request Header Fields Too Large',
      error: new ApiError('headers_too_large', 'The request line and headers are over 16 KiB.'),
    };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const error = new ApiError('bad_request', 'The request did not arrive in time.');
    return { line: '408 Request Timeout', error: Object.assign(error, { status: 408 }) };
  }
  return { line: '400 Bad Request', error: new ApiError('bad_request', 'This is not a valid HTTP/1.1 request.') };
}

/** A client that was too slow, or whose bytes are no request, has no more time than this to read its answer (ms). */
const LINGER = 1_000;

/** Gives the answers that Node makes by itself the body, the request id and the line in the log that all others have. */
export function answerClientErrors(server: Server, log: Log): void {
  server.on('clientError', (fault: NodeJS.ErrnoException, socket: HttpSocket) => {
    // In the middle of an answer a second one would be read as part of it.
    if (fault.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
      socket.destroy();
      return;
    }
    const { line, error } = explain(fault.code);
    const requestId = uuidv7();
    const body = JSON.stringify(errorBody(error));
    socket.write(
      `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `X-Request-Id: ${requestId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    linger(socket, LINGER);
    log.pino.info({ request_id: requestId, route: 'none', status: error.status, fault: fault.code }, 'request');
  });
}
