import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Check, EarlyRefusals, Pauses } from '@app/serving';

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
    for (const status of [400, 417, 429, 503]) expect(await ask(status, headers)).toBeGreaterThanOrEqual(14);
  });
});

describe('pauses', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  /** Begins pauses. @returns how many of them end within this time (ms) */
  function endedWithin(time: number, pauses: Pauses, count: number): number {
    const ended = vi.fn();
    for (let index = 0; index < count; index++) pauses.schedule(ended, index);
    vi.advanceTimersByTime(time);
    return ended.mock.calls.length;
  }

  it('are all within 50 ms while there are few of them', () => {
    expect(endedWithin(24, new Pauses(25, 0.5), 50)).toBe(0);
    expect(endedWithin(45, new Pauses(25, 0.5), 50)).toBe(50);
  });

  it('take longer the more there are, and usual times again afterwards', () => {
    const pauses = new Pauses(25, 0.5);
    expect(endedWithin(250, pauses, 1_000)).toBeLessThanOrEqual(500);
    vi.advanceTimersByTime(650);
    expect(endedWithin(45, pauses, 50)).toBe(50);
  });

  it('call back once each, with what they were given', () => {
    const ended = vi.fn();
    new Pauses(25, 0.5).schedule(ended, 'a', 1);
    vi.runAllTimers();
    expect(ended.mock.calls).toEqual([['a', 1]]);
  });
});
