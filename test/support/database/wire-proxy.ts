import { type Link, PostgresProxy } from './proxy.js';

/** When a connection ends: before PostgreSQL gets a message, or after it processed it but before the client is told. */
export type Side = 'before' | 'after';

/** The types of PostgreSQL's answers, by type of client message. An error answers any message. */
const ANSWERS: Record<string, string> = { P: '1', B: '2', D: 'Tn', E: 'CIs', C: '3', Q: 'Z', S: 'Z' };
/** After an error, PostgreSQL ignores all messages until one of these. */
const RESUMES = 'QS';
const FLUSH = message('H');

/** A client message, as test failures show it. */
export interface Seen {
  /** The protocol's message type. */
  type: string;
  /** The statement it belongs to. */
  statement: string;
}

/** The message at which to end a connection. */
export interface Cut {
  /** Index of the message, counted from {@link WireProxy.watch}. */
  index: number;
  side: Side;
  /** Keeps the database unreachable until the next {@link WireProxy.watch}. */
  forGood?: boolean;
  /** Called after the connection has ended. */
  then?: () => void;
}

/**
 * Parses the PostgreSQL protocol and can end a connection at any message. Messages sent before the connection is ready
 * for queries do not count.
 */
export class WireProxy extends PostgresProxy {
  /** Messages of all connections since {@link watch}. */
  seen: Seen[] = [];
  /** The message at which a connection was ended; null if none was. */
  cut: Seen | null = null;
  private plan: Cut | null = null;
  private watching = false;
  private away = false;

  /** Restarts the count of messages. @param cut the message at which to end a connection, if any */
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

  protected override carry(link: Link): void {
    const { client, upstream } = link;
    if (this.away) {
      this.sever(link);
      return;
    }
    const fromClient = new Messages(false);
    const fromServer = new Messages(true);
    const statements = new Statements();
    /** Messages that PostgreSQL has not answered yet. */
    const pending: Pending[] = [];
    let ready = false;
    client.on('data', (chunk) => {
      for (const { type, bytes } of fromClient.read(chunk)) {
        if (link.cut) return;
        const side = ready ? this.judge({ type, statement: statements.of(type, bytes) }) : null;
        if (side === 'before') {
          this.end(link);
          return;
        }
        upstream.write(bytes);
        if (ready && type in ANSWERS) pending.push({ type, last: side === 'after' });
        if (side === null) continue;
        // The client's next messages are never forwarded, so nothing else makes PostgreSQL answer.
        if (!RESUMES.includes(type)) upstream.write(FLUSH);
        link.cut = true;
      }
    });
    upstream.on('data', (chunk) => {
      if (!link.cut) client.write(chunk);
      for (const { type } of fromServer.read(chunk)) {
        if (!ready) ready = type === 'Z';
        else if (answered(pending, type)) {
          this.end(link);
          return;
        }
      }
    });
  }

  /** @returns when to end the connection of this message; null to leave it open */
  private judge(seen: Seen): Side | null {
    if (!this.watching || seen.type === 'X') return null;
    if (this.seen.push(seen) - 1 !== this.plan?.index) return null;
    this.cut = seen;
    return this.plan.side;
  }

  private end(link: Link): void {
    link.cut = true;
    link.client.destroy();
    // PostgreSQL reads what it was sent before it sees the end.
    link.upstream.end();
    if (this.plan?.forGood) {
      this.away = true;
      for (const other of this.links) if (other !== link) this.sever(other);
    }
    this.plan?.then?.();
  }
}

interface Pending {
  type: string;
  /** Whether the connection ends with its answer. */
  last: boolean;
}

/** Removes the messages that an answer of this type completes. @returns whether to end the connection now */
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

/** Splits a stream into messages: a type byte (absent from a client's first message), then the length. */
export class Messages {
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

/** The statements of one connection. Only the message that prepares a statement has its text. */
class Statements {
  private readonly named = new Map<string, string>();
  private current = '';

  /** The statement a message belongs to. */
  of(type: string, bytes: Buffer): string {
    const texts = bytes.subarray(5).toString('latin1').split('\0');
    if (type === 'Q') this.current = texts[0]!;
    if (type === 'P') this.named.set(texts[0]!, (this.current = texts[1]!));
    // The portal's name comes first.
    if (type === 'B') this.current = this.named.get(texts[1]!) ?? '';
    return this.current.replaceAll(/\s+/g, ' ').trim();
  }
}

/** An empty message. */
function message(type: string): Buffer {
  return Buffer.concat([Buffer.from(type), Buffer.from([0, 0, 0, 4])]);
}
