import { Agent, request as send } from 'node:http';
import type { Answer } from '../http/answer-check.js';
import { type FuzzRequest, targetOf, wireOf } from './fuzz-requests.js';
import { exchange } from '../http/raw-http.js';

/** The smallest request found whose response breaks a promise. */
export type Failure = { faults: string[]; bytes: string };

export interface FuzzReport {
  sent: number;
  /** Counts of responses by status; 0 means that the connection ended without one. */
  statuses: Map<number, number>;
  /** Method and path of the routes that succeeded. */
  succeeded: Set<string>;
  failures: Failure[];
}

/** @returns the promises that the response breaks */
export type Judge = (request: FuzzRequest, answer: Answer) => string[];

/** Concurrent connections: enough to interleave requests without overloading a shared machine. */
const CONCURRENCY = 16;
/** A run that has not yet met everything it has to meet takes up to this many times as many requests. */
const PATIENCE = 4;
/** How long to wait for the answer to corrupted bytes (ms), whose rest the server may still expect. */
const RAW_PATIENCE = 1_500;
/** Stops after this many failures. */
const MOST_FAILURES = 5;

/**
 * Sends requests over several keep-alive connections, and shrinks those whose responses the judge rejects.
 * @param count requests at least; more follow until `complete` is true of the report
 */
export async function fuzz(
  port: number,
  count: number,
  next: () => FuzzRequest,
  judge: Judge,
  complete: (report: FuzzReport) => boolean,
): Promise<FuzzReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const report: FuzzReport = { sent: 0, statuses: new Map(), succeeded: new Set(), failures: [] };
  const complaints = async (request: FuzzRequest): Promise<string[]> => {
    const answer = await answerTo(port, request, agent);
    report.statuses.set(answer.status, (report.statuses.get(answer.status) ?? 0) + 1);
    if (answer.status >= 200 && answer.status < 300 && request.route.startsWith(`${request.method} `)) report.succeeded.add(request.route);
    // Corrupted bytes may get no response; a request must get one.
    if (answer.status === 0) return request.raw === null ? ['no answer'] : [];
    return judge(request, answer);
  };
  const goOn = (): boolean => report.sent < count || (report.sent < count * PATIENCE && !complete(report));
  const worker = async (): Promise<void> => {
    while (goOn() && report.failures.length < MOST_FAILURES) {
      report.sent++;
      const request = next();
      if ((await complaints(request)).length > 0) report.failures.push(await shrink(request, complaints));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  agent.destroy();
  return report;
}

async function shrink(request: FuzzRequest, complaints: (request: FuzzRequest) => Promise<string[]>): Promise<Failure> {
  let smallest = request;
  let faults = await complaints(request);
  // A failure that does not repeat depends on earlier requests and cannot be shrunk.
  if (faults.length === 0) return { faults: ['failed only once'], bytes: wireOf(request) };
  for (let smaller = true; smaller;) {
    smaller = false;
    for (const candidate of smallerThan(smallest)) {
      const found = await complaints(candidate);
      if (found.length === 0) continue;
      [smallest, faults, smaller] = [candidate, found, true];
      break;
    }
  }
  return { faults, bytes: wireOf(smallest) };
}

function* smallerThan(request: FuzzRequest): Generator<FuzzRequest> {
  if (request.raw !== null) {
    for (let length = request.raw.length >> 1; length >= 1; length >>= 1) {
      for (let at = 0; at < request.raw.length; at += length) {
        yield { ...request, raw: request.raw.slice(0, at) + request.raw.slice(at + length) };
      }
    }
    return;
  }
  if (request.body !== '') yield { ...request, body: '' };
  for (const body of smallerBodies(request.body)) yield { ...request, body };
  for (const index of request.query.keys()) yield { ...request, query: request.query.toSpliced(index, 1) };
  for (const index of request.headers.keys()) yield { ...request, headers: request.headers.toSpliced(index, 1) };
}

/** The body without one of its fields or items, at any depth. */
function* smallerBodies(body: string): Generator<string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body, 'latin1').toString('utf8'));
  } catch {
    return;
  }
  const without = function* (value: unknown): Generator {
    if (typeof value !== 'object' || value === null) return;
    const parts = Object.entries(value);
    const join = (entries: [string, unknown][]): unknown => (Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries));
    for (const [index, [name, part]] of parts.entries()) {
      yield join(parts.toSpliced(index, 1));
      for (const smaller of without(part)) yield join(parts.toSpliced(index, 1, [name, smaller]));
    }
  };
  for (const smaller of without(parsed)) yield Buffer.from(JSON.stringify(smaller)).toString('latin1');
}

async function answerTo(port: number, request: FuzzRequest, agent: Agent): Promise<Answer> {
  if (request.raw !== null) return onItsOwn(port, request, RAW_PATIENCE);
  try {
    return await onKeptConnection(port, request, agent);
  } catch {
    // Node's client refused to send it, or the server has just closed the connection.
    return onItsOwn(port, request);
  }
}

function onKeptConnection(port: number, request: FuzzRequest, agent: Agent): Promise<Answer> {
  const { method, body } = request;
  // Keeps repeated headers.
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of request.headers) (headers[name] ??= []).push(value);
  if (body !== '') headers['Content-Length'] = [String(body.length)];
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path: targetOf(request), headers, agent };
    const sent = send(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const answer = { status: response.statusCode!, headers: response.headers, method };
        resolve({ ...answer, body: Buffer.concat(chunks).toString('utf8') });
      });
    });
    sent.on('error', reject);
    sent.end(body === '' ? undefined : Buffer.from(body, 'latin1'));
  });
}

async function onItsOwn(port: number, request: FuzzRequest, patience?: number): Promise<Answer> {
  try {
    return await exchange(port, wireOf(request), patience);
  } catch (error) {
    // The server may still wait for the rest of a corrupted request.
    if (request.raw !== null) return { status: 0, headers: {}, body: '' };
    throw error;
  }
}
