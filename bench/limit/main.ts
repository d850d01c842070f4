/**
 * The minimum that can serve a page: node:http and pg, with the API's key lookup, its statements in the same kind of
 * transaction with row-level security, and its bytes, including headers. No framework, validation, limits or log. The
 * API's cost is measured against it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from './answer.js';

const KEEP_ALIVE_TIMEOUT = 65_000;

const server = createServer((request, response) => {
  answer(request.url!, request.headers.authorization).then(
    ([status, body, headers = []]) => {
      for (const [name, value] of headers) response.setHeader(name, value);
      response.setHeader('Content-Length', Buffer.byteLength(body));
      response.writeHead(status);
      response.end(body);
    },
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});
server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
server.listen(0, '127.0.0.1', () => process.send!({ listening: (server.address() as AddressInfo).port }));
