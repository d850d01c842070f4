import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { FairSemaphore, QueueFull, TokenBuckets } from '@app/concurrency';
import { Env } from '@app/config';
import { clientAddress, onceClosed, pathOf } from '@app/serving';
import { networkOf } from './network.js';
import { BUSY, PageError } from './page-error.js';

const PROBES = new Set(['/health/live', '/health/ready']);

/** Whether a load balancer asks, which no limit applies to. */
export const isProbe = (request: IncomingMessage): boolean => PROBES.has(pathOf(request));

/** Finds out which network a request comes from. */
export function networkFinder(env: Env): (request: IncomingMessage) => string {
  const behindProxy = env.get('TRUST_PROXY');
  return (request) => networkOf(clientAddress(request, behindProxy));
}

/** A page takes a few milliseconds, so a class that opens the same page at once still fits into its queue. */
const LIMITS = { permits: 8, share: 1, perOwner: 100, waiting: 400, wait: 5_000 };

/** How long a request may keep others of its network waiting (ms): it may itself wait, for a lock or for hashing. */
const LONGEST_TURN = 50;

/** Created once, like {@link BUSY}. */
const TOO_MANY = PageError.tooMany(5);

/**
 * Limits how many requests a network may send to this process, and works on one of them at a time, so that others
 * wait at most for one request of a network that sends many.
 */
@Injectable()
export class NetworkTurns {
  private readonly buckets: TokenBuckets;
  private readonly counted = new WeakSet<IncomingMessage>();
  private readonly semaphore = new FairSemaphore(LIMITS);
  private readonly networkAt: (request: IncomingMessage) => string;

  constructor(env: Env) {
    const perMinute = env.get('PORTAL_REQUESTS_PER_MINUTE');
    this.buckets = new TokenBuckets({ perSecond: perMinute / 60, burst: Math.ceil(perMinute / 20) });
    this.networkAt = networkFinder(env);
  }

  /**
   * Counts a request, once. Limits on what people attempt are shared, but counting an attempt takes a statement: without
   * this limit, a single network could keep the process busy with attempts that are refused.
   *
   * @returns the refusal of a request beyond the limit
   */
  readonly count = (request: IncomingMessage): PageError | null => {
    if (isProbe(request) || this.counted.has(request)) return null;
    if (!this.buckets.take(this.networkAt(request))) return TOO_MANY;
    this.counted.add(request);
    return null;
  };

  /** Middleware that waits for the request's turn, which ends with the response. It counts forms, which have arrived. */
  readonly take = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const refusal = this.count(request);
    if (refusal) throw refusal;
    if (!isProbe(request)) await this.wait(request, response);
    // The client may have left in the meantime.
    if (!request.socket.destroyed) next();
  };

  /** @throws BUSY when the queue is full or the wait was too long */
  private async wait(request: Request, response: Response): Promise<void> {
    const owner = this.networkAt(request);
    try {
      await this.semaphore.acquire({ owner });
    } catch (error) {
      throw error instanceof QueueFull ? BUSY : error;
    }
    let ended = false;
    const end = () => {
      if (!ended) this.semaphore.release(owner);
      ended = true;
      clearTimeout(timer);
    };
    const timer = setTimeout(end, LONGEST_TURN).unref();
    onceClosed(response, end);
  }
}
