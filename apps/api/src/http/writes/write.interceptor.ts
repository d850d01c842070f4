import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Database } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { ApiError, ValidationFailed } from '../errors/api-error.js';
import { type Attempt, attemptOf, Audit, isWrite } from './audit.js';
import { idempotencyKeyOf, isIdempotent } from './idempotency-key.js';
import { type Claim, IdempotencyStore, type KeyUse, type StoredAnswer } from './idempotency.store.js';

/** How long a duplicate waits for the first request's answer (ms); then it is told to come back. */
const DUPLICATE_PATIENCE_MS = 2_000;

/** Headers of an answer that are part of it, and are replayed with it. */
const KEPT_HEADERS = ['content-type', 'etag', 'location'];

/**
 * Runs every write as one unit of work: the claim of its idempotency key, its effect, its outbox rows, its audit row and
 * its stored answer commit together or not at all. Reads pass by.
 */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  /** Requests with a key that run in this process: duplicates wait here, without a connection of their own. */
  private readonly running = new Map<string, Promise<unknown>>();

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly store: IdempotencyStore,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const attempt = attemptOf(request);
    if (!isWrite(request.method) || !attempt) return next.handle();
    const response = context.switchToHttp().getResponse<Response>();
    const work = () => lastValueFrom(next.handle(), { defaultValue: undefined });
    const key = isIdempotent(context.getHandler()) ? idempotencyKeyOf(request) : null;
    if (key === null) return from(this.perform(attempt, response, work));
    const use = {
      organizationId: attempt.caller.organizationId,
      operation: `${request.method} ${request.path}`,
      key,
      requestHash: request.contentHash ?? Buffer.alloc(32),
    };
    return from(this.performOnce(use, attempt, response, work));
  }

  private perform(attempt: Attempt, response: Response, work: () => Promise<unknown>): Promise<unknown> {
    return this.db.transaction(attempt.caller, () => this.audit.record(attempt, work, () => response.statusCode));
  }

  private async performOnce(use: KeyUse, attempt: Attempt, response: Response, work: () => Promise<unknown>) {
    const name = JSON.stringify([use.organizationId, use.operation, use.key]);
    await this.waitForOther(name);
    const running = this.claimAndPerform(use, attempt, response, work);
    this.running.set(name, running);
    try {
      const answer = await running;
      return send(response, answer);
    } finally {
      if (this.running.get(name) === running) this.running.delete(name);
    }
  }

  /** Waits for a duplicate of this process; whatever became of it, the claim finds out. */
  private async waitForOther(name: string): Promise<void> {
    const deadline = Date.now() + DUPLICATE_PATIENCE_MS;
    for (let other = this.running.get(name); other; other = this.running.get(name)) {
      const left = deadline - Date.now();
      if (left <= 0) throw inUse();
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, left)));
      await Promise.race([other.then(nothing, nothing), timeout]);
      clearTimeout(timer);
    }
  }

  private async claimAndPerform(
    use: KeyUse,
    attempt: Attempt,
    response: Response,
    work: () => Promise<unknown>,
  ): Promise<StoredAnswer & { replayed: boolean }> {
    return this.db.transaction(attempt.caller, async () => {
      const claim = await this.claim(use);
      if (claim.outcome === 'mismatch') throw mismatch();
      if (claim.outcome === 'answered') return { ...claim.answer, replayed: true };
      const body = await this.audit.record(attempt, work, () => response.statusCode);
      const answer = { status: response.statusCode, headers: keptHeaders(response, body), body: toText(body) };
      await this.store.answer(use, answer);
      return { ...answer, replayed: false };
    });
  }

  private async claim(use: KeyUse): Promise<Claim> {
    try {
      return await this.store.claim(use, DUPLICATE_PATIENCE_MS);
    } catch (error) {
      throw isLockTimeout(error) ? inUse() : error;
    }
  }
}

const nothing = () => undefined;

/** Puts an answer on the response, stored or fresh: both take this way, so both are the same bytes. */
function send(response: Response, answer: StoredAnswer & { replayed: boolean }): string | undefined {
  response.status(answer.status).set(answer.headers);
  if (answer.replayed) response.set('Idempotency-Replayed', 'true');
  return answer.body === '' ? undefined : answer.body;
}

function toText(body: unknown): string {
  if (body === undefined || body === null) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function keptHeaders(response: Response, body: unknown): Record<string, string> {
  const headers = KEPT_HEADERS.map((name) => [name, response.getHeader(name)] as const);
  const kept = headers.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  // An object would have become JSON on its way out.
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  return { ...type, ...Object.fromEntries(kept) };
}

/** A lock that was not to be had in time: here, that of the idempotency key. */
function isLockTimeout(error: unknown): boolean {
  const cause: unknown = error instanceof Error && 'driverError' in error ? error.driverError : error;
  return cause instanceof Error && 'code' in cause && cause.code === '55P03';
}

function inUse(): ApiError {
  return new ApiError(
    'idempotency_key_in_use',
    'The first request with this Idempotency-Key is still running. Try again in a moment.',
    {},
    { 'Retry-After': '1' },
  );
}

function mismatch(): ValidationFailed {
  const msg = 'This Idempotency-Key was used for another request. Use a new key for a new request.';
  return new ValidationFailed([{ loc: ['header', 'idempotency-key'], msg, type: 'value_error' }]);
}

declare module 'express-serve-static-core' {
  interface Request {
    /** SHA-256 of the query and the body, whatever the order of their keys. */
    contentHash?: Buffer;
    caller?: Caller;
  }
}
