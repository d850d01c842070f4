import { Agent, request } from 'node:http';

/** A complete response. */
export interface Answer {
  status: number;
  body: string;
  replayed: boolean;
  /** From the first byte sent to the last byte received. */
  milliseconds: number;
}

/** A request, without its key. */
export interface Sent {
  path: string;
  method?: string;
  idempotencyKey?: string;
  type?: string;
  body?: Buffer;
}

/** Sends requests one after another over one connection. It costs less than fetch, so it distorts results less. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** @throws Error if the response's status is not `expected` */
  async send(sent: Sent, expected: number): Promise<Answer> {
    const answer = await this.exchange(sent);
    if (answer.status === expected) return answer;
    throw new Error(`${sent.path} answered ${answer.status}, and not ${expected}: ${answer.body.slice(0, 500)}`);
  }

  close(): void {
    this.agent.destroy();
  }

  private exchange({ path, method = 'POST', idempotencyKey, type, body }: Sent): Promise<Answer> {
    const headers = {
      Authorization: `Token token=${this.key}`,
      'Content-Length': body?.length ?? 0,
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      ...(body && { 'Content-Type': type ?? 'application/json' }),
    };
    return new Promise((resolve, reject) => {
      const started = performance.now();
      const asked = request(this.url + path, { method, headers, agent: this.agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const milliseconds = performance.now() - started;
          const replayed = response.headers['idempotency-replayed'] === 'true';
          resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString(), replayed, milliseconds });
        });
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }
}
