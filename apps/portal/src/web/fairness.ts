import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { Turns } from '@app/concurrency';
import { Env } from '@app/config';
import { pathOf } from '@app/routing';
import { clientAddress, networkOf, RequestTurn } from '@app/serving';
import { Sessions } from './sessions.js';

/** Load balancers ask these. They answer from memory. */
const PROBES = new Set(['/health/live', '/health/ready']);

/** Pages in progress: fewer than connections to the database, so that a page never waits for one. */
const PAGES = 8;

/** The same for people who are not signed in, all of them together. */
const PAGES_OF_STRANGERS = 4;

/**
 * How long a stranger holds a turn at least (ms): 200 a second in all. What they get (a style sheet, "not found") often costs less than a loop
 * of events, which hundreds of requests would fill.
 */
const LEAST_OF_STRANGER = 20;

/** Sessions to remember, which take about 2 MB. A forgotten one merely asks as a stranger once. */
const MOST_SESSIONS = 10_000;

/** Shares this process between the networks that ask for pages: see `Turns`. Strangers never keep people who are signed in waiting. */
@Injectable()
export class Fairness {
  private readonly turns = new Turns(PAGES);
  private readonly strangers = new Turns(PAGES_OF_STRANGERS);
  /** The hashes of sessions that were valid when last looked up. Validity is never remembered. */
  private readonly known = new LRUCache<string, true>({ max: MOST_SESSIONS });
  private readonly ambient = new AsyncLocalStorage<RequestTurn | undefined>();

  constructor(
    private readonly env: Env,
    private readonly sessions: Sessions,
  ) {}

  /** The turn that a request needs; null if none. */
  readonly turnOf = (request: Request): RequestTurn | null => {
    if (PROBES.has(pathOf(request))) return null;
    const network = this.networkOf(request);
    const secret = nameOf(this.sessions.secretOf(request));
    if (secret && this.known.has(secret)) return new RequestTurn(this.turns, network);
    return new RequestTurn(this.strangers, `stranger from ${network}`, LEAST_OF_STRANGER);
  };

  /** Somebody is signed in, or is not: goes on with a turn of those who are. @throws QueueFull, ClientLeft */
  async lookedUp(request: Request, signedIn: boolean): Promise<void> {
    const secret = nameOf(this.sessions.secretOf(request));
    if (!secret) return;
    if (signedIn) {
      this.known.set(secret, true);
      await request.turn?.moveTo(this.turns, this.networkOf(request));
    } else this.known.delete(secret);
  }

  /** Middleware: makes the request's turn known to {@link without}. */
  readonly know = (request: Request, _response: Response, next: NextFunction): void => {
    this.ambient.run(request.turn, next);
  };

  /** Runs work that waits for other things than the database, without the turn of the page. */
  without<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.ambient.getStore();
    return turn ? turn.without(work) : work();
  }

  private networkOf(request: Request): string {
    return networkOf(clientAddress(request, this.env.get('TRUST_PROXY')));
  }
}

const nameOf = (hash: Buffer | null): string | null => hash && hash.toString('latin1');
