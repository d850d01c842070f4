import { createHash } from 'node:crypto';
import { setImmediate as othersFirst, setTimeout as sleep } from 'node:timers/promises';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Database } from '@app/database';
import { ClientLeft } from '@app/serving';
import { ApiError, ValidationFailed } from '../errors/api-error.js';
import { enveloped } from '../lists/envelope.interceptor.js';
import { type Attempt, attemptOf } from '../request/attempt.js';
import { Audit } from './audit.js';
import { idempotencyKeyOf } from './idempotency-key.js';
import { IdempotencyStore, type KeyUse, nameOf, type StoredAnswer } from './idempotency.store.js';
import { Masks, type Sight, sightOf, type Sights } from './masks.js';

/** How long a duplicate waits for the first request (ms) before it gets 409. */
const DUPLICATE_PATIENCE_MS = 2_000;

/** How often it polls for another process's response (ms). */
const POLL_MS = 40;

/** Longer paths don't fit an index; no record has such a path. */
const LONGEST_PATH = 255;

/** Response headers that are stored and replayed. */
const KEPT_HEADERS = ['content-type', 'etag', 'location'];

/** A request with a key in progress in this process, and its response; null if it had no effect. */
interface Running {
  requestHash: Buffer;
  ended: Promise<StoredAnswer | null>;
}

/** A write with a key. */
interface Once {
  use: KeyUse;
  attempt: Attempt;
  response: Response;
  sights: () => Promise<Sights>;
  /** Waits without the turn of the request. */
  pause: <T>(wait: () => Promise<T>) => Promise<T>;
}

/** Runs every write as one unit of work: idempotency key, effect, outbox rows, audit row and stored response commit together or not at all. */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  /** By use of a key: duplicates wait for each other here, without holding a connection. */
  private readonly running = new Map<string, Running>();

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly store: IdempotencyStore,
    private readonly masks: Masks,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const attempt = attemptOf(request)!;
    const response = context.switchToHttp().getResponse<Response>();
    const work = async () => enveloped(await lastValueFrom(next.handle(), { defaultValue: undefined }), response);
    const key = idempotencyKeyOf(request);
    const sights = () => this.masks.answer(context, work);
    if (key === null) {
      const { caller } = attempt;
      const seen = async () => (await sights())[sightOf(caller, caller.keyId)];
      return from(this.perform(attempt, request, response, this.masks.all(context, caller) ? work : seen));
    }
    const use = {
      organizationId: attempt.caller.organizationId,
      operation: `${request.method} ${shortened(request.path)}`,
      key,
      requestHash: request.contentHash ?? Buffer.alloc(32),
      deadline: attempt.caller.deadline,
    };
    const pause: Once['pause'] = (wait) => (request.turn ? request.turn.without(wait) : wait());
    return from(this.performOnce({ use, attempt, response, sights, pause }));
  }

  private perform(attempt: Attempt, request: Request, response: Response, work: () => Promise<unknown>) {
    return this.db.transaction(attempt.caller, async () => {
      const result = await this.audit.record(attempt, work, () => response.statusCode);
      // Never a POST: the client of a form may leave without waiting.
      if (request.method !== 'POST') await stillAwaited(request);
      return result;
    });
  }

  private async performOnce(once: Once) {
    const { use, response, pause } = once;
    const name = nameOf(use);
    const deadline = Date.now() + DUPLICATE_PATIENCE_MS;
    for (let other = this.running.get(name); other; other = this.running.get(name)) {
      const { ended } = other;
      const answer = await pause(() => before(deadline, ended));
      if (answer && !other.requestHash.equals(use.requestHash)) throw mismatch();
      if (answer) return send(response, answer, true);
    }
    // No await since the check: of several requests that waited for a failed one, one proceeds and the others wait.
    const result = this.claimAndPerform(once, deadline);
    const ended = result.then(({ answer }) => answer, nothing);
    this.running.set(name, { requestHash: use.requestHash, ended });
    void ended.then(() => this.running.delete(name));
    const { answer, replayed } = await result;
    return send(response, answer, replayed);
  }

  /** Polls while another process holds the key, without holding a turn or a connection in between. */
  private async claimAndPerform({ use, attempt, response, sights, pause }: Once, deadline: number) {
    const answerOf = async (): Promise<StoredAnswer> => {
      const { whole, ...seen } = await sights();
      const body = toText(whole);
      const differing = Object.entries(seen).map(([sight, of]) => [sight as Sight, toText(of)] as const);
      const others = Object.fromEntries(differing.filter(([, text]) => text !== body));
      const headers = keptHeaders(response, whole);
      return { status: response.statusCode, headers, body, maker: attempt.caller.keyId, others };
    };
    for (;;) {
      const earlier = await this.store.find(use);
      if (earlier === 'mismatch') throw mismatch();
      if (earlier) return { answer: earlier, replayed: true };
      const answer = await this.db.transaction(attempt.caller, async () => {
        if (!(await this.store.claim(use))) return null;
        const keep = (answer: StoredAnswer) => this.store.answer(use, answer);
        return this.audit.record(attempt, answerOf, () => response.statusCode, keep);
      });
      if (answer) return { answer, replayed: false };
      if (Date.now() >= deadline) throw inUse();
      await pause(() => sleep(POLL_MS));
    }
  }
}

const nothing = () => null;

/** @throws ApiError 409 when the deadline passes first */
async function before<T>(deadline: number, ended: Promise<T>): Promise<T> {
  const late = sleep(Math.max(0, deadline - Date.now()), undefined, { ref: false }).then(() => {
    throw inUse();
  });
  late.catch(nothing);
  return Promise.race([ended, late]);
}

function shortened(path: string): string {
  return path.length <= LONGEST_PATH ? path : createHash('sha256').update(path).digest('hex');
}

/**
 * A change whose client has left could be overtaken by its own repeat, in another process, and by what follows that one. So it
 * is undone, as long as it can be.
 *
 * @throws ClientLeft
 */
async function stillAwaited({ socket }: Request): Promise<void> {
  // What has arrived with the database's answer, such as the end of the connection, is read first.
  await othersFirst();
  if (!socket.writable) throw new ClientLeft('The client has left');
}

/** Sends a fresh or a stored response of a key, as far as its caller may see it: the same code, hence the same bytes. */
function send(response: Response, { status, headers, body, maker, others }: StoredAnswer, replayed: boolean) {
  if (replayed) response.set('Idempotency-Replayed', 'true');
  response.status(status).set(headers);
  const seen = others[sightOf(response.req.caller!, maker)] ?? body;
  return seen === '' ? undefined : seen;
}

function toText(body: unknown): string {
  if (body === undefined || body === null) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function keptHeaders(response: Response, body: unknown): Record<string, string> {
  const headers = KEPT_HEADERS.map((name) => [name, response.getHeader(name)] as const);
  const kept = headers.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  // Express would have sent an object as JSON.
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  return { ...type, ...Object.fromEntries(kept) };
}

function inUse(): ApiError {
  const message = 'The first request with this Idempotency-Key is still running. Try again in a moment.';
  return new ApiError('idempotency_key_in_use', message, {}, { 'Retry-After': '1' });
}

function mismatch(): ValidationFailed {
  const msg =
    'This Idempotency-Key was already used for a different request. Send a new value with each new request: ' +
    'a client that sends the same one with all of them is refused.';
  return new ValidationFailed([{ loc: ['header', 'idempotency-key'], msg, type: 'value_error' }]);
}
