import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A simple query as it goes over the wire, when a client waits for it alone. */
const COMMIT = Buffer.from('Q\0\0\0\x0bCOMMIT\0', 'latin1');
/** What every write with an idempotency key does. */
const CLAIM = 'INSERT INTO idempotency_keys';

/**
 * Stands between the API and PostgreSQL, and can keep back what PostgreSQL says to a COMMIT: the instant in which a write
 * is done and nobody knows.
 */
export class CommitTrap {
  private readonly sockets = new Set<Socket>();
  private sprung: (() => void) | null = null;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (client) => this.carry(client));
  }

  static async open(databaseUrl: string): Promise<CommitTrap> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CommitTrap(server, new URL(databaseUrl));
  }

  /** The database, by way of this. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** Resolves when the next write with a key is committed; its connection says nothing from then on. */
  spring(): Promise<void> {
    return new Promise((resolve) => (this.sprung = resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private carry(client: Socket): void {
    const upstream = connect(Number(this.target.port), this.target.hostname);
    let claimed = false;
    let caught: (() => void) | null = null;
    client.on('data', (chunk) => {
      if (chunk.includes(CLAIM)) claimed = true;
      if (claimed && this.sprung && chunk.equals(COMMIT)) {
        caught = this.sprung;
        this.sprung = null;
      }
      if (chunk.equals(COMMIT)) claimed = false;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (caught) caught();
      else client.write(chunk);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay();
      // What went wrong with one end is told to the other by closing it.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
