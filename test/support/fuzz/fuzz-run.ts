import { Agent, request as send } from 'node:http';
import type { Answer } from '../http/answer-check.js';
import { type FuzzRequest, targetOf, wireOf } from './fuzz-requests.js';
import { exchange } from '../http/raw-http.js';

/** A request whose response breaks a promise. */
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
 * Sends requests over several keep-alive connections.
 * @param count requests at least; more follow until `complete` is true of the report
 */
export async function fuzz(
  port: number,
  count: number,
  next: (report: FuzzReport) => FuzzRequest,
  judge: Judge,
  complete: (report: FuzzReport) => boolean,
): Promise<FuzzReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const report: FuzzReport = { sent: 0, statuses: new Map(), succeeded: new Set(), failures: [] };
  const complaints = async (request: FuzzRequest): Promise<string[]> => {
    const answer = await answerTo(port, request, agent);
    report.statuses.set(answer.status, (report.statuses.get(answer.status) ?? 0) + 1);
    if (answer.status >= 200 && answer.status < 400 && request.route.startsWith(`${request.method} `)) report.succeeded.add(request.route);
    // Corrupted bytes may get no response; a request must get one.
    if (answer.status === 0) return request.raw === null ? ['no answer'] : [];
    return judge(request, answer);
  };
  const goOn = (): boolean => report.sent < count || (report.sent < count * PATIENCE && !complete(report));
  const worker = async (): Promise<void> => {
    while (goOn() && report.failures.length < MOST_FAILURES) {
      report.sent++;
      const request = next(report);
      const faults = await complaints(request);
      if (faults.length > 0) report.failures.push({ faults, bytes: wireOf(request) });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  agent.destroy();
  return report;
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
