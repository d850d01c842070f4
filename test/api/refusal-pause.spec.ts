import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Check, EarlyRefusals } from '@app/serving';

describe('a refusal that ends its connection', () => {
  let server: Server;
  const check: Check<number, { path: string }> = ({ headers }) => Number(headers['x-status']);
  const early = new EarlyRefusals({
    begin: () => undefined,
    checks: [check],
    match: () => undefined,
    render: (status) => ({ status, headers: {}, body: '{}' }),
    usualHeaders: {},
  });

  beforeAll(async () => {
    server = createServer((request, response) => void early.admits(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => server.close());

  /** Milliseconds until the answer. */
  async function ask(status: number, headers: Record<string, string>): Promise<number> {
    const { port } = server.address() as AddressInfo;
    const call = request({ port, host: '127.0.0.1', method: 'POST', headers: { 'X-Status': status, ...headers } });
    call.on('error', () => undefined);
    call.flushHeaders();
    const began = performance.now();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(status);
    expect(response.headers.connection).toBe('close');
    call.destroy();
    return performance.now() - began;
  }

  it.each([
    ['a client that asks for it', { Connection: 'close', 'Content-Length': '0' }],
    ['an unread body', { 'Content-Length': '3000000' }],
  ])('is sent after a pause for %s', async (_, headers) => {
    for (const status of [429, 503]) expect(await ask(status, headers)).toBeGreaterThanOrEqual(9);
  });
});
