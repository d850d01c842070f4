import { randomUUID } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Every nth request is a write. */
const WRITES = 4;

/** Reads and writes at a steady rate, each on its own connection, without retries. */
export class SteadyTraffic {
  /** Times of successful requests (ms). */
  readonly times: number[] = [];
  /** How the other requests failed. */
  readonly failures: string[] = [];
  private running = true;
  private readonly underWay = new Set<Promise<void>>();
  private readonly ended: Promise<void>;

  /** @param key with `read` and `accounts:write` */
  constructor(
    private readonly port: number,
    private readonly key: string,
    perSecond: number,
  ) {
    this.ended = this.run(perSecond);
  }

  /** Restarts the counts. */
  reset(): void {
    this.times.length = 0;
    this.failures.length = 0;
  }

  /** Resolves when the last request is answered. */
  async stop(): Promise<void> {
    this.running = false;
    await this.ended;
    await Promise.all(this.underWay);
  }

  private async run(perSecond: number): Promise<void> {
    const began = performance.now();
    for (let index = 0; this.running; index++) {
      await sleep(Math.max(0, began + (index * 1_000) / perSecond - performance.now()));
      const one = this.ask(index % WRITES === 0).finally(() => this.underWay.delete(one));
      this.underWay.add(one);
    }
  }

  private async ask(writes: boolean): Promise<void> {
    const began = performance.now();
    const outcome = await this.exchange(writes);
    if (outcome === (writes ? '201' : '200')) this.times.push(performance.now() - began);
    else this.failures.push(`${writes ? 'write' : 'read'}: ${outcome}`);
  }

  private exchange(writes: boolean): Promise<string> {
    const headers: Record<string, string> = { Authorization: `Token token=${this.key}` };
    if (writes) Object.assign(headers, { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() });
    return new Promise((resolve) => {
      const [method, path] = writes ? ['POST', '/v1/invites'] : ['GET', '/v1/homework'];
      const request = send({ host: '127.0.0.1', port: this.port, path, method, headers, agent: new Agent() });
      request.on('error', (error) => resolve(error.message));
      request.on('response', (response) => {
        response.resume().on('close', () => resolve(response.complete ? String(response.statusCode) : 'cut'));
      });
      request.end(writes ? '{"scope":"organization"}' : undefined);
    });
  }
}
