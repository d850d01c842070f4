import { once } from 'node:events';
import { Agent, createServer, get, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const WATCH_EVERY_MS = 50;

/** A server behind the proxy, and the keep-alive connections to it. */
interface Target {
  port: number;
  agent: Agent;
  ready: boolean;
}

/** A round-robin proxy for servers that report ready. It keeps connections alive and retries nothing. */
export class WatchingProxy {
  private targets: Target[] = [];
  private turn = 0;
  private running = true;
  private readonly server = createServer((request, response) => this.forward(request, response));
  private watching: Promise<void>;

  static async start(): Promise<WatchingProxy> {
    const proxy = new WatchingProxy();
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    proxy.watching = proxy.watch();
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resolves when the server gets requests. */
  async add(port: number): Promise<void> {
    const target = { port, agent: new Agent({ keepAlive: true }), ready: false };
    this.targets.push(target);
    await this.until(() => target.ready);
  }

  remove(port: number): void {
    this.targets = this.targets.filter((target) => target.port !== port);
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.watching;
    for (const { agent } of this.targets) agent.destroy();
    this.server.closeAllConnections();
    this.server.close();
  }

  private async watch(): Promise<void> {
    while (this.running) {
      await Promise.all(this.targets.map((target) => this.look(target)));
      await sleep(WATCH_EVERY_MS);
    }
  }

  private async look(target: Target): Promise<void> {
    target.ready = await new Promise((resolve) => {
      const probe = { host: '127.0.0.1', port: target.port, path: '/health/ready', agent: false };
      get(probe, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      }).on('error', () => resolve(false));
    });
    // Closes idle connections; the others close after their response.
    if (!target.ready) for (const socket of Object.values(target.agent.freeSockets).flat()) socket?.destroy();
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ready = this.targets.filter((target) => target.ready);
    const target = ready[this.turn++ % ready.length];
    if (!target) {
      outgoing.writeHead(502).end();
      return;
    }
    const { method, url: path } = incoming;
    const { connection: _, ...headers } = incoming.headers;
    const forwarded = send({ host: '127.0.0.1', port: target.port, agent: target.agent, method, path, headers });
    forwarded.on('error', () => outgoing.writeHead(502).end());
    forwarded.on('response', (answer) => {
      const { connection: _, ...rest } = answer.headers;
      answer.pipe(outgoing.writeHead(answer.statusCode!, rest));
    });
    incoming.pipe(forwarded);
  }

  private async until(condition: () => boolean): Promise<void> {
    while (!condition()) await sleep(WATCH_EVERY_MS);
  }
}
