import type { AddressInfo } from 'node:net';
import { AnswerCheck } from '../http/answer-check.js';
import type { TestApi } from '../http/api.js';
import { bytesOf, exchange, type RawAnswer, type RawRequest } from '../http/raw-http.js';
import { inReport } from '../faults/promise.js';
import { keyedReads } from '../http/routes.js';
import { createFixtures, type Fixtures } from '../data/fixtures.js';

export type Fault = { loc: [place: string, name: string]; type: string };

/** Sends hostile requests, and checks every response against the contract, whatever the test is about. */
export class HostileClient {
  private constructor(
    readonly api: TestApi,
    readonly fixtures: Fixtures,
    private readonly check: AnswerCheck,
  ) {}

  static async create(api: TestApi): Promise<HostileClient> {
    return new HostileClient(api, await createFixtures(api), new AnswerCheck(keyedReads(api)));
  }

  get port(): number {
    return (this.api.server.address() as AddressInfo).port;
  }

  /** The Authorization header of a valid key. */
  get authorization(): [string, string] {
    return ['Authorization', `Token token=${this.fixtures.a.key}`];
  }

  /** Sends a request with a valid key on its own connection. */
  async ask(target: string, request: RawRequest = {}): Promise<RawAnswer> {
    const headers = [this.authorization, ...(request.headers ?? [])];
    const answer = await this.send(bytesOf(target, { ...request, headers }));
    expect(answer.answers, `answers to ${target}`).toBe(1);
    return answer;
  }

  /** Sends bytes on their own connection. */
  async send(bytes: string): Promise<RawAnswer> {
    const answer = await exchange(this.port, bytes);
    const said = `${JSON.stringify(bytes.slice(0, 300))} was answered ${answer.status} ${answer.body.slice(0, 300)}`;
    expect(answer.status, said).toBeLessThan(500);
    if (answer.status > 0) expect(this.check.faults(answer), said).toEqual([]);
    return answer;
  }

  async stop(): Promise<void> {
    await this.api.stop();
  }
}

/** The faults of a 422. */
export function faultsOf(answer: RawAnswer): Fault[] {
  expect(answer.status, answer.body.slice(0, 300)).toBe(422);
  return (JSON.parse(answer.body) as { detail: Fault[] }).detail;
}

/** The code of a standard error. */
export function codeOf(answer: RawAnswer): string {
  return (JSON.parse(answer.body) as { error: { code: string } }).error.code;
}

/** Runs tasks in small batches, to limit concurrent connections on a shared machine. */
export async function inLots<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += 16) await Promise.all(items.slice(at, at + 16).map(work));
}

/**
 * Its share of many cases for each of several things that the same code serves, by the thing's number: enough for all cases,
 * and at least so many. Where promises are reported, every thing gets all of them.
 */
export function someOf<T>(cases: readonly T[], number: number, things: number, least: number): T[] {
  const count = Math.min(cases.length, inReport(cases.length, Math.max(least, Math.ceil(cases.length / things))));
  return Array.from({ length: count }, (_, n) => cases[(number * count + n) % cases.length]!);
}
