import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A POST that the hook received. */
export interface Call {
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

type Reply = { status: number; headers?: Record<string, string>; text?: string; waitMs?: number } | 'close' | null;

/** A site's build hook, or a receiver of webhooks: a real HTTP server. */
export class TestHook {
  readonly calls: Call[] = [];
  /** What the nth call (from 0) is answered: null never, `close` by closing early. */
  answer: (index: number, call: Call) => Reply = () => ({ status: 202 });

  private constructor(
    private readonly server: Server,
    readonly secret: string,
  ) {}

  static async start(secret = 'the hook’s own secret'): Promise<TestHook> {
    const holder: { hook?: TestHook } = {};
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const hook = holder.hook!;
        const call = { headers: request.headers, body, at: Date.now() };
        const answer = hook.answer(hook.calls.length, call);
        hook.calls.push(call);
        if (answer === 'close') request.socket.destroy();
        else if (answer) setTimeout(() => response.writeHead(answer.status, answer.headers).end(answer.text ?? 'thank you'), answer.waitMs ?? 0);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (holder.hook = new TestHook(server, secret));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/build`;
  }

  /** Whether the call has the signature that this receiver computes, in this header. */
  signed({ headers, body }: Call, secret = this.secret, header = 'x-signature'): boolean {
    const signature = createHmac('sha256', secret)
      .update(`${String(headers['x-timestamp'])}.${body}`)
      .digest('hex');
    return headers[header] === `sha256=${signature}`;
  }

  /** Ends the calls that it has not answered. */
  drop(): void {
    this.server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
