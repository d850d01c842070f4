import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** On which side of a message the connection ends: before PostgreSQL gets it, or when it is carried out and nobody knows. */
export type Side = 'before' | 'after';

/** What PostgreSQL says when it has carried out a message of a client, by the types of both. An error ends any of them. */
const ANSWERS: Record<string, string> = { P: '1', B: '2', D: 'Tn', E: 'CIs', C: '3', Q: 'Z', S: 'Z' };
/** After an error PostgreSQL passes over what came with it, up to one of these. */
const RESUMES = 'QS';
const FLUSH = message('H');

/** A message of a client, as a failure names it. */
export interface Seen {
  /** Its type, as the protocol has it. */
  type: string;
  /** The statement that it belongs to. */
  statement: string;
}

/** Which message ends its connection. */
export interface Cut {
  /** Among the messages from now on. */
  index: number;
  side: Side;
  /** Whether the database stays out of reach, until {@link WireProxy.watch} is called again. */
  forGood?: boolean;
  /** Called when the connection has ended. */
  then?: () => void;
}

/**
 * Stands between a process and PostgreSQL, reads the messages of the protocol, and can end a connection at any of them. What
 * a connection says before it is ready for queries is not counted.
 */
export class WireProxy {
  /** The messages since {@link watch}, of all connections. */
  seen: Seen[] = [];
  /** The message that the connection was ended at; null when it did not come to that. */
  cut: Seen | null = null;
  private plan: Cut | null = null;
  private watching = false;
  private away = false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (client) => this.carry(client));
  }

  static async open(databaseUrl: string): Promise<WireProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new WireProxy(server, new URL(databaseUrl));
  }

  /** The database, by way of this. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** Counts messages from now on, and ends the connection of one of them. */
  watch(cut: Cut | null = null): void {
    this.seen = [];
    this.cut = null;
    this.plan = cut;
    this.watching = true;
    this.away = false;
  }

  unwatch(): void {
    this.watching = false;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  /** @returns on which side of the message its connection ends; null for neither */
  private judge(seen: Seen): Side | null {
    if (!this.watching || seen.type === 'X') return null;
    if (this.seen.push(seen) - 1 !== this.plan?.index) return null;
    this.cut = seen;
    return this.plan.side;
  }

  private carry(client: Socket): void {
    if (this.away) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(this.target.port), this.target.hostname);
    const fromClient = new Messages(false);
    const fromServer = new Messages(true);
    const statements = new Statements();
    /** Messages that PostgreSQL has and has not answered. */
    const pending: Pending[] = [];
    let ready = false;
    let cut = false;
    const end = () => {
      cut = true;
      client.destroy();
      // What was let through is read before the end is.
      upstream.end();
      if (this.plan?.forGood) {
        this.away = true;
        for (const socket of this.sockets) if (socket !== upstream) socket.destroy();
      }
      this.plan?.then?.();
    };
    client.on('data', (chunk) => {
      for (const { type, bytes } of fromClient.read(chunk)) {
        if (cut) return;
        const side = ready ? this.judge({ type, statement: statements.of(type, bytes) }) : null;
        if (side === 'before') {
          end();
          return;
        }
        upstream.write(bytes);
        if (ready && type in ANSWERS) pending.push({ type, last: side === 'after' });
        if (side === null) continue;
        // The rest of what the client says never arrives, so that the answer has to be asked for.
        if (!RESUMES.includes(type)) upstream.write(FLUSH);
        cut = true;
      }
    });
    upstream.on('data', (chunk) => {
      if (!cut) client.write(chunk);
      for (const { type } of fromServer.read(chunk)) {
        if (!ready) ready = type === 'Z';
        else if (answered(pending, type)) {
          end();
          return;
        }
      }
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        if (socket === upstream || !cut) other.destroy();
      });
    }
  }
}

interface Pending {
  type: string;
  /** Whether its answer is the last one that is awaited. */
  last: boolean;
}

/** Takes from `pending` what an answer of this type ends. @returns whether that was the last one to be awaited */
function answered(pending: Pending[], type: string): boolean {
  if (type === 'E') {
    const passed = pending.findIndex((message) => RESUMES.includes(message.type));
    return pending.splice(0, passed === -1 ? pending.length : passed).some(({ last }) => last);
  }
  const [first] = pending;
  if (!first || !ANSWERS[first.type]!.includes(type)) return false;
  pending.shift();
  return first.last;
}

/** Cuts a stream into messages: a byte for the type, but for the first one of a client, then the length. */
class Messages {
  private rest = Buffer.alloc(0);

  constructor(private typed: boolean) {}

  read(chunk: Buffer): { type: string; bytes: Buffer }[] {
    this.rest = Buffer.concat([this.rest, chunk]);
    const messages: { type: string; bytes: Buffer }[] = [];
    for (;;) {
      const head = this.typed ? 1 : 0;
      if (this.rest.length < head + 4) return messages;
      const length = head + this.rest.readInt32BE(head);
      if (this.rest.length < length) return messages;
      const bytes = this.rest.subarray(0, length);
      messages.push({ type: this.typed ? String.fromCharCode(bytes[0]!) : '', bytes });
      this.rest = this.rest.subarray(length);
      this.typed = true;
    }
  }
}

/** The statements of one connection: only the message that prepares one has its text. */
class Statements {
  private readonly named = new Map<string, string>();
  private current = '';

  /** The statement that a message belongs to. */
  of(type: string, bytes: Buffer): string {
    const texts = bytes.subarray(5).toString('latin1').split('\0');
    if (type === 'Q') this.current = texts[0]!;
    if (type === 'P') this.named.set(texts[0]!, (this.current = texts[1]!));
    // The name of the portal comes first.
    if (type === 'B') this.current = this.named.get(texts[1]!) ?? '';
    return this.current.replaceAll(/\s+/g, ' ').trim();
  }
}

/** An empty message. */
function message(type: string): Buffer {
  return Buffer.concat([Buffer.from(type), Buffer.from([0, 0, 0, 4])]);
}
