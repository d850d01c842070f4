import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { serveInTurn } from '../../libs/serving/src/in-turn.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const REFUSALS = 20;

describe('refusals on one connection', () => {
  let server: Server;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  afterEach(() => {
    agent.destroy();
    server.close();
  });

  it('do not keep earlier requests in memory', async () => {
    const requests: WeakRef<IncomingMessage>[] = [];
    let last: IncomingMessage | undefined;
    server = createServer(() => undefined);
    const none = () => undefined;
    const admits = (request: IncomingMessage) => {
      requests.push(new WeakRef((last = request)));
      // A request that stays in memory keeps the error, and the stack with it.
      Object.assign(request, { reason: new Error('Too many') });
      return false;
    };
    serveInTurn(
      server,
      (request, response) => {
        response.writeHead(429, { 'Content-Length': 0 }).end();
        return admits(request);
      },
      none,
      none,
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    // Each but the first starts when a pause ends.
    const ask = async () => {
      const [response] = (await once(get({ port, host: '127.0.0.1', agent }), 'response')) as [IncomingMessage];
      await once(response.resume(), 'close');
    };
    for (let n = 0; n < REFUSALS; n++) await ask();
    expect(requests).toHaveLength(REFUSALS);
    await vi.waitFor(() => {
      collectGarbage();
      expect(requests.filter((request) => request.deref()).length).toBeLessThan(5);
    });
    expect(requests.at(-1)!.deref()).toBe(last);
  });
});
