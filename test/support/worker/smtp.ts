import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail that the server accepted. */
export interface Received {
  to: string;
  headers: Record<string, string>;
  text: string;
  html: string;
  /** Everything between DATA and the final dot. */
  raw: string;
  at: number;
}

/** How the server treats a recipient or a mail: it rejects it, waits, or both. */
export interface Behaviour {
  code?: number;
  message?: string;
  waitMs?: number;
  /** The server waits for this before it answers. */
  until?: Promise<unknown>;
}

/** A real local SMTP server that keeps the mails it accepts. */
export class TestSmtp {
  readonly received: Received[] = [];
  /** RCPT commands, accepted or not. */
  readonly asked: string[] = [];
  connections = 0;
  private readonly watchers = new Set<() => void>();
  /** Called at RCPT TO. */
  atRecipient: (address: string) => Behaviour | undefined = () => undefined;
  /** Called after the whole mail has arrived. */
  atMessage: (address: string) => Behaviour | undefined = () => undefined;

  private constructor(
    private readonly server: SMTPServer,
    readonly port: number,
  ) {}

  static async start(options: SMTPServerOptions = {}, port = 0): Promise<TestSmtp> {
    // The server's callbacks need this object, which needs the server's port.
    const holder: { smtp?: TestSmtp } = {};
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      // Those who keep a connection for their next mail would be waited for.
      closeTimeout: 100,
      onConnect: (_session, done) => {
        holder.smtp!.connections++;
        done();
      },
      onRcptTo: ({ address }, _session, done) => {
        holder.smtp!.asked.push(address);
        void holder.smtp!.act(holder.smtp!.atRecipient(address), done);
      },
      onData: (stream, { envelope }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const to = envelope.rcptTo[0]!.address;
          void holder.smtp!.act(holder.smtp!.atMessage(to), (refusal) => {
            if (!refusal) holder.smtp!.take(parse(to, Buffer.concat(chunks).toString()));
            done(refusal);
          });
        });
      },
      ...options,
    });
    server.on('error', () => undefined);
    server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
    return (holder.smtp = new TestSmtp(server, (server.server.address() as AddressInfo).port));
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** Resolves when the server has this many mails to addresses that start with `start`. */
  taken(count: number, start = ''): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.received.filter(({ to }) => to.startsWith(start)).length < count) return;
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
      look();
    });
  }

  to(address: string): Received[] {
    return this.received.filter(({ to }) => to === address);
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(resolve));
  }

  private take(mail: Received): void {
    this.received.push(mail);
    for (const look of this.watchers) look();
  }

  private async act(behaviour: Behaviour | undefined, done: (error?: Error) => void): Promise<void> {
    await behaviour?.until;
    if (behaviour?.waitMs) await sleep(behaviour.waitMs, undefined, { ref: false });
    if (!behaviour?.code) {
      done();
      return;
    }
    done(Object.assign(new Error(behaviour.message ?? 'refused'), { responseCode: behaviour.code }));
  }
}

function parse(to: string, raw: string): Received {
  const { headers, body } = split(raw);
  const parts = partsOf({ headers, body });
  const part = (type: string) => {
    const found = parts.find((candidate) => candidate.headers['content-type']?.startsWith(type));
    return found ? decode(found.body, found.headers['content-transfer-encoding']) : '';
  };
  return { to, headers, text: part('text/plain'), html: part('text/html'), raw, at: Date.now() };
}

/** The parts of a mail, those of its parts among them: with an attachment, text and HTML are one part. */
function partsOf({ headers, body }: ReturnType<typeof split>): ReturnType<typeof split>[] {
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1];
  if (!boundary) return [];
  const own = body.split(`--${boundary}`).slice(1, -1).map((part) => split(part.replace(/^\r\n/, ''))); // prettier-ignore
  return own.flatMap((part) => [part, ...partsOf(part)]);
}

function split(message: string): { headers: Record<string, string>; body: string } {
  const end = message.indexOf('\r\n\r\n');
  const lines = message.slice(0, end).replace(/\r\n[ \t]+/g, ' ').split('\r\n'); // prettier-ignore
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]);
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: message.slice(end + 4) };
}

function decode(body: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString().replaceAll('\r\n', '\n').trimEnd();
  if (encoding !== 'quoted-printable') return body.replaceAll('\r\n', '\n').trimEnd();
  const bytes = body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString().replaceAll('\r\n', '\n').trimEnd();
}
