import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Factories } from '../data/factories.js';
import { hooks, Probe } from '../faults/probe.js';
import { TestApi } from './api.js';

export interface IdempotentAnswer {
  status: number;
  /** Status, content type and body, which a replay repeats. */
  bytes: string;
  replayed: string | null;
  retryAfter: string | null;
}

/** Two API processes on one database, each with few connections, and an organization's key. */
export class IdempotentApi {
  private constructor(
    readonly api: TestApi,
    readonly twin: TestApi,
    readonly make: Factories,
    readonly school: string,
    readonly key: string,
  ) {}

  static async open(): Promise<IdempotentApi> {
    const settings = { ENCRYPTION_KEY: randomBytes(32).toString('hex'), DATABASE_POOL_SIZE: '5' };
    const api = await TestApi.start(settings, undefined, [Probe]);
    const twin = await TestApi.start(settings, api.database, [Probe]);
    const { make } = api;
    const school = (await make.organization()).id;
    const key = await api.key(school, { scopes: ['read', 'write', 'accounts:write'] });
    return new IdempotentApi(api, twin, make, school, key);
  }

  async stop(): Promise<void> {
    await this.twin.close();
    await this.api.stop();
  }

  async ask(path: string, body: object, idempotencyKey: string, { at = this.api, as = this.key, method = 'POST' } = {}): Promise<IdempotentAnswer> {
    const { port } = at.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { Authorization: `Token token=${as}`, 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      bytes: `${response.status} ${response.headers.get('content-type')} ${text}`,
      replayed: response.headers.get('idempotency-replayed'),
      retryAfter: response.headers.get('retry-after'),
    };
  }

  /** The number of effects that probes of this name had. */
  async effects(name: string): Promise<number> {
    const [row] = await this.make.query<{ n: number }>('SELECT count(*)::int AS n FROM subjects WHERE name LIKE $1', [`${name} %`]);
    return row!.n;
  }

  /** The number of rows for an idempotency key. */
  async keysLike(idempotencyKey: string): Promise<number> {
    const [row] = await this.make.query<{ n: number }>('SELECT count(*)::int AS n FROM idempotency_keys WHERE key = $1', [idempotencyKey]);
    return row!.n;
  }
}

/** Retries after 409 and 503, as the reference tells clients to. */
export async function retried(request: () => Promise<IdempotentAnswer>): Promise<IdempotentAnswer> {
  for (let left = 500; ; left--) {
    const answer = await request();
    if (![409, 503].includes(answer.status) || left === 0) return answer;
    await sleep(20);
  }
}

/** Pauses probes after their effect. @returns a function to end the pause, and a promise for its start */
export function pauseAfterEffect(): { end: () => void; begun: Promise<void> } {
  const pause = Promise.withResolvers<undefined>();
  const begun = Promise.withResolvers<undefined>();
  hooks.afterEffect = () => {
    begun.resolve(undefined);
    return pause.promise;
  };
  return { end: () => pause.resolve(undefined), begun: begun.promise };
}

/** Reports deviations: a key must get one original response, exact replays of it, or 409 with Retry-After. */
export function wrongOnes(answers: IdempotentAnswer[]): string[] {
  const done = answers.filter(({ status }) => status !== 409);
  const wrong = answers.filter(({ status, retryAfter }) => status >= 500 || (status === 409 && !/^[1-9]\d*$/.test(retryAfter ?? '')));
  const kinds = [...new Set(done.map(({ bytes }) => bytes))];
  const firsts = done.filter(({ replayed }) => replayed !== 'true').length;
  return [
    ...wrong.map(({ bytes }) => bytes),
    ...(kinds.length === 1 ? [] : [`${kinds.length} different answers: ${kinds.join(' | ')}`]),
    ...(firsts === 1 ? [] : [`${firsts} answers that are no replay`]),
  ];
}
