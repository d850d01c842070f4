import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What becomes of a connection: carried; taken and never answered, as by a server that hangs or a firewall that forgot
 * it; closed; reset.
 */
export type Fate = 'carry' | 'stall' | 'drop' | 'reset';

/** Stands between a process and PostgreSQL, and does to its connections what networks do. */
export class DatabaseProxy {
  /** Added to what PostgreSQL says (ms). */
  delay = 0;
  private current: Fate = 'carry';
  private readonly pairs = new Set<[client: Socket, upstream: Socket]>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (client) => {
      this.carry(client);
    });
  }

  static async open(databaseUrl: string): Promise<DatabaseProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DatabaseProxy(server, new URL(databaseUrl));
  }

  /** The database, by way of this. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** Of the connections there are, and of those to come. Those that were stalled end with the stall. */
  set fate(fate: Fate) {
    const stalled = this.current === 'stall';
    this.current = fate;
    for (const [client, upstream] of this.pairs) {
      if (stalled) client.destroy();
      else this.strike(client, upstream);
    }
  }

  async close(): Promise<void> {
    this.fate = 'drop';
    this.server.close();
    await once(this.server, 'close');
  }

  private strike(client: Socket, upstream: Socket): void {
    if (this.current === 'drop') client.destroy();
    if (this.current === 'reset') client.resetAndDestroy();
    if (this.current !== 'stall') return;
    client.removeAllListeners('data').resume();
    upstream.removeAllListeners('data').resume();
  }

  private carry(client: Socket): void {
    const upstream = connect(Number(this.target.port), this.target.hostname);
    const pair: [Socket, Socket] = [client, upstream];
    this.pairs.add(pair);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      const say = () => client.destroyed || client.write(chunk);
      if (this.delay > 0) setTimeout(say, this.delay);
      else say();
    });
    for (const [socket, other] of [pair, [upstream, client] as const]) {
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.pairs.delete(pair);
        other.destroy();
      });
    }
    this.strike(client, upstream);
  }
}
