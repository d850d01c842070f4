import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { percentile } from '../data/percentile.js';
import { bytesOf, type RawRequest } from '../http/raw-http.js';

const PROGRAM = fileURLToPath(new URL('load-generator.js', import.meta.url));
const STDIO: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit'];

/** Traffic of one kind. */
export interface Lane {
  /** Sent in rotation. */
  requests: string[];
  connections: number;
  seconds: number;
  /** Requests per second, answered or not. Without a rate, each connection sends its next request after a response. */
  rate?: number;
  /** Seconds to wait before it starts. */
  delay?: number;
  /** Ends on time, without waiting for pending responses. */
  abandons?: boolean;
  /** Limits a lane without a rate. Starts no request beyond it. */
  bytesPerSecond?: number;
  /** Each connection follows the cursors of a list; its requests ask for `cursor=start`. */
  walks?: boolean;
}

/** A lane whose duration somebody else decides. */
export type Traffic = Omit<Lane, 'seconds'>;

export interface Reply {
  /** When the request was sent (ms since 1970). */
  at: number;
  /** 0 if the connection was cut off. */
  status: number;
  took: number;
  retryAfter: boolean;
}

/** The results of a lane. */
export class Outcome {
  constructor(
    readonly replies: Reply[],
    readonly seconds: number,
    /** Requests that were due while every connection waited for a response. */
    readonly unsent = 0,
  ) {}

  static joined(outcomes: Outcome[]): Outcome {
    const sum = (of: (one: Outcome) => number) => outcomes.reduce((total, one) => total + of(one), 0);
    return new Outcome(
      outcomes.flatMap(({ replies }) => replies),
      sum(({ seconds }) => seconds),
      sum(({ unsent }) => unsent),
    );
  }

  with(...statuses: number[]): Outcome {
    return new Outcome(
      this.replies.filter(({ status }) => statuses.includes(status)),
      this.seconds,
    );
  }

  without(...statuses: number[]): Outcome {
    return new Outcome(
      this.replies.filter(({ status }) => !statuses.includes(status)),
      this.seconds,
    );
  }

  get count(): number {
    return this.replies.length;
  }

  get perSecond(): number {
    return this.count / this.seconds;
  }

  /** A percentile of the response times (ms); 0 without replies. */
  percentile(share: number): number {
    const times = this.replies.map(({ took }) => took);
    return percentile(times, share) || 0;
  }

  /** `200: 1234, 503: 5` */
  get statuses(): string {
    const counts = new Map<number, number>();
    for (const { status } of this.replies) counts.set(status, (counts.get(status) ?? 0) + 1);
    return [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`).join(', '); // prettier-ignore
  }

  /** Refusals without Retry-After. */
  get untold(): number {
    return this.with(429, 503).replies.filter(({ retryAfter }) => !retryAfter).length;
  }
}

/** The bytes of a request on a keep-alive connection, without an Authorization header if the key is null. */
export function requestOf(path: string, key: string | null, { headers = [], ...request }: RawRequest = {}): string {
  const body = request.body === undefined ? [] : ([['Content-Type', 'application/json'], ['Content-Length', String(Buffer.byteLength(request.body))]] as [string, string][]); // prettier-ignore
  const authorization: [string, string][] = key === null ? [] : [['Authorization', `Token token=${key}`]];
  const all = [...authorization, ...body, ...headers];
  return bytesOf(path, { ...request, headers: all }).replace('Connection: close\r\n', '');
}

/** Runs lanes concurrently in a separate process. */
export async function load(port: number, ...lanes: Lane[]): Promise<Outcome[]> {
  return generate(port, lanes, spawn(process.execPath, [PROGRAM], { stdio: STDIO }));
}

/**
 * Like `load`, for clients that stand for other machines. They get only the processor time that nobody else wants, so
 * that their own cost is not blamed on the API. Linux shares the processor among sessions before it looks at
 * priorities, so they need a session of their own.
 */
export async function loadFromElsewhere(port: number, ...lanes: Lane[]): Promise<Outcome[]> {
  const isLinux = process.platform === 'linux';
  const [command, ...args] = [...(isLinux ? ['chrt', '--idle', '0'] : []), process.execPath, PROGRAM];
  const child = spawn(command, args, { stdio: STDIO, detached: true });
  if (!isLinux) setPriority(child.pid!, constants.priority.PRIORITY_LOW);
  return generate(port, lanes, child);
}

async function generate(port: number, lanes: Lane[], child: ChildProcessByStdio<Writable, Readable, null>) {
  child.stdin.end(JSON.stringify({ port, lanes }));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  await new Promise((resolve) => child.once('close', resolve));
  const results = JSON.parse(text) as {
    answers: [number, number, number, number][];
    seconds: number;
    unsent: number;
  }[];
  return results.map(
    ({ answers, seconds, unsent }) =>
      new Outcome(
        answers.map(([at, status, took, retryAfter]) => ({ at, status, took, retryAfter: retryAfter === 1 })),
        seconds,
        unsent,
      ),
  );
}
