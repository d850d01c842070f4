import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Turns } from '@app/concurrency';
import { Env } from '@app/config';
import { pathOf } from '@app/routing';
import { clientAddress, networkOf, RequestTurn } from '@app/serving';

/** Load balancers ask these. They answer from memory. */
const PROBES = new Set(['/health/live', '/health/ready']);

/** Pages in progress: fewer than connections to the database, so that a page never waits for one. */
const PAGES = 8;

/** Shares this process between the networks that ask for pages: see `Turns`. */
@Injectable()
export class Fairness {
  private readonly turns = new Turns(PAGES);
  private readonly ambient = new AsyncLocalStorage<RequestTurn | undefined>();

  constructor(private readonly env: Env) {}

  /** The turn that a request needs; null if none. */
  readonly turnOf = (request: Request): RequestTurn | null => {
    if (PROBES.has(pathOf(request))) return null;
    return new RequestTurn(this.turns, networkOf(clientAddress(request, this.env.get('TRUST_PROXY'))));
  };

  /** Middleware: makes the request's turn known to {@link without}. */
  readonly know = (request: Request, _response: Response, next: NextFunction): void => {
    this.ambient.run(request.turn, next);
  };

  /** Runs work that waits for other things than the database, without the turn of the page. */
  without<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.ambient.getStore();
    return turn ? turn.without(work) : work();
  }
}
