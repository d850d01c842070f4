import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { urlWith } from './url-with.js';
import { Messages } from './wire-proxy.js';

const RESPONSES = { authenticated: 'R', key: 'K', ready: 'Z' };

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** One session of PostgreSQL for all clients, by turns of a transaction each: like pgbouncer before 1.21, it passes on the names of statements. */
export class OldPooler {
  private readonly server = createServer((client) => this.accept(client));
  private readonly clients = new Set<Socket>();
  private readonly turns: (() => void)[] = [];
  private holder: Socket | null = null;
  /** Messages that PostgreSQL will answer with its state. */
  private pending = 0;

  private constructor(
    private readonly session: pg.Client,
    private readonly target: string,
  ) {}

  static async open(target: string): Promise<OldPooler> {
    const session = new pg.Client({ connectionString: target });
    // Closed with the pooler.
    session.on('error', () => undefined);
    await session.connect();
    const pooler = new OldPooler(session, target);
    const answers = new Messages(true);
    pooler.upstream.removeAllListeners('data').on('data', (chunk: Buffer) => {
      for (const { type, bytes } of answers.read(chunk)) pooler.answer(type, bytes);
    });
    await once(pooler.server.listen(0, '127.0.0.1'), 'listening');
    return pooler;
  }

  get url(): string {
    return urlWith(this.target, { hostname: '127.0.0.1', port: String((this.server.address() as AddressInfo).port) });
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.destroy();
    this.upstream.destroy();
    await once(this.server.close(), 'close');
  }

  private get upstream(): Socket {
    return (this.session as unknown as { connection: { stream: Socket } }).connection.stream;
  }

  private accept(client: Socket): void {
    this.clients.add(client.on('error', () => undefined).on('close', () => this.clients.delete(client)));
    const requests = new Messages(false);
    client.on('data', (chunk: Buffer) => {
      for (const { type, bytes } of requests.read(chunk)) {
        if (type === '') this.greet(client);
        else if (type === 'X') client.end();
        else if (this.holder === null || this.holder === client) this.pass(client, type, bytes);
        else this.turns.push(() => this.pass(client, type, bytes));
      }
    });
  }

  private greet(client: Socket): void {
    const key = Buffer.alloc(8);
    // Not PostgreSQL's, whose processes have smaller numbers.
    key.writeInt32BE(randomInt(2 ** 30, 2 ** 31 - 1));
    client.write(message(RESPONSES.authenticated, Buffer.alloc(4)));
    client.write(message(RESPONSES.key, key));
    client.write(message(RESPONSES.ready, Buffer.from('I')));
  }

  private pass(client: Socket, type: string, bytes: Buffer): void {
    this.holder = client;
    if (type === 'S' || type === 'Q') this.pending++;
    this.upstream.write(bytes);
  }

  private answer(type: string, bytes: Buffer): void {
    this.holder?.write(bytes);
    if (type !== RESPONSES.ready || --this.pending > 0 || bytes.toString('latin1', 5) !== 'I') return;
    this.holder = null;
    // Whoever comes first begins the next transaction; what others have sent waits for it.
    for (const turn of this.turns.splice(0)) turn();
  }
}
