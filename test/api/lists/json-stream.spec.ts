import { once } from 'node:events';
import { createServer, get, request, type Server } from 'node:http';
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

it('asks for a piece only once the client has taken those before', async () => {
  const early: number[] = [];
  const { url } = await serve(async function* (response) {
    for (let n = 0; n < 100; n++) {
      if (response.writableNeedDrain) early.push(n);
      yield await Promise.resolve('x'.repeat(65_536));
    }
  });
  expect(await (await fetch(url)).text()).toHaveLength(100 * 65_536);
  expect(early).toEqual([]);
});

it('asks for no piece of an answer to HEAD', async () => {
  let asked = false;
  const { url, ended } = await serve(async function* () {
    asked = true;
    yield await Promise.resolve('x');
  });
  const [answer] = (await once(request(url, { method: 'HEAD' }).end(), 'response')) as [NodeJS.ReadableStream];
  answer.resume();
  expect([asked, (await ended).writableEnded]).toEqual([false, true]);
});

it('stops when the client disconnects', async () => {
  let stopped = false;
  const { url, ended } = await serve(async function* () {
    try {
      for (;;) yield await Promise.resolve('x'.repeat(65_536));
    } finally {
      stopped = true;
    }
  });
  const sent = get(url, (answer) => answer.once('data', () => sent.destroy()).on('error', () => undefined));
  expect([(await ended).writableEnded, stopped]).toEqual([false, true]);
});

it('fails with a piece', async () => {
  const { url, ended } = await serve(async function* () {
    yield await Promise.resolve('x');
    throw new Error('no more pieces');
  });
  const failed = expect(ended).rejects.toThrow('no more pieces');
  const sent = get(url).on('error', () => undefined);
  await failed;
  sent.destroy();
});
