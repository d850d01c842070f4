import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Budget, Turns } from '@app/concurrency';
import { Env } from '@app/config';
import type { Deadline } from '@app/database';
import { pathOf } from '@app/routing';
import { clientAddress, networkOf, RequestTurn } from '@app/serving';
import { KnownKeys } from './known-keys.js';

declare module 'express-serve-static-core' {
  interface Request {
    deadline: Deadline;
  }
}

/** Others use these to check whether the service works. They answer from memory. */
const EXEMPT = new Set(['/health/live', '/health/ready', '/metrics']);

/** A refused stranger costs less than a loop of events, which hundreds of them would fill (ms). */
const LEAST_OF_STRANGER = 1;

/** Bytes of bodies and of large answers in memory. Parsed bodies take about as much again, and both fit beside the heap. */
const MOST_BYTES = 64 * 1_048_576;

/** ms: the answer has begun, so it is worth more patience than a request. */
const LONGEST_WAIT_OF_PART = 30_000;

/** Shares this process between its clients: see `Turns`. There is a turn for each connection to the database. */
@Injectable()
export class Fairness {
  /** By organization. */
  readonly turns: Turns;
  /** For networks until a valid key shows whose request it is. All of them together never keep an organization waiting. */
  readonly strangers = new Turns(1);
  /** For pages so deep that one of them takes PostgreSQL a core for a while. */
  readonly deepPages = new Turns(1);
  /** For the parts of large answers: reading one keeps the event loop for some milliseconds. */
  readonly parts = new Turns(1, LONGEST_WAIT_OF_PART);
  readonly budget = new Budget(MOST_BYTES);

  constructor(
    private readonly env: Env,
    private readonly keys: KnownKeys,
  ) {
    this.turns = new Turns(env.get('DATABASE_POOL_SIZE'));
  }

  /** The turn that a request needs; null if none. It counts towards an organization once its key was valid. */
  readonly turnOf = (request: Request): RequestTurn | null => {
    if (EXEMPT.has(pathOf(request))) return null;
    const { known } = this.keys.of(request);
    if (!known) {
      return new RequestTurn(
        this.strangers,
        networkOf(clientAddress(request, this.env.get('TRUST_PROXY'))),
        LEAST_OF_STRANGER,
      );
    }
    request.keyIds = { keyId: known.id, organizationId: known.organizationId };
    return new RequestTurn(this.turns, known.organizationId);
  };
}

/** Runs work that waits for the client or for another request. That time uses up neither the turn nor the deadline. */
export async function whileWaiting<T>(request: Request, work: () => Promise<T>, refused?: AbortSignal): Promise<T> {
  const began = performance.now();
  const timed = () =>
    work().finally(() => {
      request.deadline.extend(performance.now() - began);
    });
  return request.turn ? request.turn.without(timed, refused) : timed();
}
