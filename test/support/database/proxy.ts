import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One connection through a proxy. */
export interface Link {
  client: Socket;
  upstream: Socket;
  /** The client is cut off, but PostgreSQL's end stays open so that it finishes what it has received. */
  cut?: boolean;
}

/** Stands between a process and PostgreSQL. Subclasses decide how bytes are carried. */
export abstract class PostgresProxy {
  protected readonly links = new Set<Link>();
  private readonly server = createServer((client) => this.accept(client));

  constructor(private readonly target: URL) {}

  static async open<T extends PostgresProxy>(this: new (target: URL) => T, databaseUrl: string): Promise<T> {
    const proxy = new this(new URL(databaseUrl));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The database, through this proxy. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** How many are open. */
  get connections(): number {
    return this.links.size;
  }

  async close(): Promise<void> {
    for (const link of this.links) this.sever(link);
    this.server.close();
    await once(this.server, 'close');
  }

  /** Connects the two ends of a new connection. */
  protected abstract carry(link: Link): void;

  protected sever({ client, upstream }: Link): void {
    client.destroy();
    upstream.destroy();
  }

  private accept(client: Socket): void {
    const upstream = connect(Number(this.target.port), this.target.hostname);
    const link: Link = { client, upstream };
    this.links.add(link);
    for (const socket of [client, upstream]) {
      socket.setNoDelay();
      // An error closes this end, which closes the other.
      socket.on('error', () => undefined);
    }
    client.on('close', () => {
      if (!link.cut) upstream.destroy();
    });
    upstream.on('close', () => {
      this.links.delete(link);
      client.destroy();
    });
    this.carry(link);
  }
}
