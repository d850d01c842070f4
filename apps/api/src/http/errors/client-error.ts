import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { ApiError } from './api-error.js';
import { errorBody } from './error-formats.js';

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

/** Gives the answers that Node makes by itself the body and the request id that all others have. */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (fault: NodeJS.ErrnoException, socket: Duplex) => {
    if (fault.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { line, error } = explain(fault.code);
    const body = JSON.stringify(errorBody(error));
    socket.end(
      `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `X-Request-Id: ${uuidv7()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
  // Node would answer 417 with an empty body.
  server.on('checkExpectation', (_request, response) => {
    const error = Object.assign(new ApiError('bad_request', 'Only "Expect: 100-continue" is understood.'), {
      status: 417,
    });
    response.writeHead(417, { 'Content-Type': 'application/json; charset=utf-8', 'X-Request-Id': uuidv7() });
    response.end(JSON.stringify(errorBody(error)));
  });
}
