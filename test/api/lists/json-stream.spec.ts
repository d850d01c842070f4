import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { JsonStream } from '../../../apps/api/src/http/views/json-stream.js';

/** Surrogate pairs at even and at odd positions, alone and between other characters. */
const PIECES = ['🎓'.repeat(100_000), 'x', '🎓'.repeat(100_000), '', 'é"'.repeat(100_000), 'x🎓'.repeat(50_000)];

let server: Server;
afterEach(() => server.close());

/** A server that answers each request with these pieces. @returns its address, and when the answer has ended */
async function serve(pieces: (response: Response) => AsyncIterable<string>) {
  const ended = new Promise<Response>((resolve, reject) => {
    server = createServer((incoming, outgoing) => {
      const response = Object.assign(outgoing, { req: incoming }) as unknown as Response;
      new JsonStream(pieces(response)).sendTo(response).then(() => resolve(response), reject);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ended };
}

it('cuts no character of a long piece, and lets others be served in between', async () => {
  let turns = 0;
  const { url } = await serve(async function* (response) {
    const count = () => {
      turns++;
      if (!response.writableEnded) setImmediate(count);
    };
    count();
    for (const piece of PIECES) yield await Promise.resolve(piece);
    yield await Promise.resolve(PIECES.join(''));
  });
  const text = await (await fetch(url)).text();
  expect(text === PIECES.join('').repeat(2)).toBe(true);
  expect(turns).toBeGreaterThan(15);
});
