import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { JsonStream } from '../../apps/api/src/http/views/json-stream.js';

/** The same text at both positions of a character's two units. */
const PIECES = ['🎓'.repeat(100_000), 'x', '🎓'.repeat(100_000), '', 'é"'.repeat(100_000)];

it('cuts no character of a long piece, and lets others be served in between', async () => {
  let turns = 0;
  const server = createServer((_, response) => {
    const count = () => {
      turns++;
      if (!response.writableEnded) setImmediate(count);
    };
    count();
    const pieces = (async function* () {
      for (const piece of PIECES) yield await Promise.resolve(piece);
      yield await Promise.resolve(PIECES.join(''));
    })();
    void new JsonStream(pieces).sendTo(response as unknown as Response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const text = await answer.text();
    expect(text === PIECES.join('').repeat(2)).toBe(true);
    expect(turns).toBeGreaterThan(15);
  } finally {
    server.close();
  }
});
