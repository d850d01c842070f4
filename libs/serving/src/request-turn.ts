import type { NextFunction, Request, Response } from 'express';
import type { Turn, Turns } from '@app/concurrency';
import { onceClosed } from './once-closed.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** undefined for a request that needs none. */
    turn?: RequestTurn;
  }
}

/** The client has its answer, or has left: work for it does not go on. */
export class ClientLeft extends Error {}

/** No work goes on much longer than a request's deadline (ms). */
const LONGEST_WORK = 10_000;

/** The turn of a request: while it has one, the process works on it. It is given back while it waits for something else. */
export class RequestTurn {
  private turn: Turn | null = null;
  private over = false;

  /** @param least how long a turn is held at least (ms), so that other work comes between many short ones */
  constructor(
    private turns: Turns,
    private owner: string,
    private least = 0,
  ) {}

  /** @returns what to wait for, which may reject with QueueFull; null if the turn was granted at once @throws ClientLeft */
  enter(): Promise<void> | null {
    if (this.over) throw new ClientLeft('The client has left');
    this.turn = this.turns.enter(this.owner);
    return this.turn.ready;
  }

  /** Goes on with a turn of another owner, once it is known whose request this is. @throws QueueFull, ClientLeft */
  async moveTo(turns: Turns, owner: string): Promise<void> {
    if (owner === this.owner) return;
    this.release();
    this.least = 0;
    this.turns = turns;
    this.owner = owner;
    await this.enter();
  }

  release(): void {
    const { turn } = this;
    this.turn = null;
    if (turn && this.least > 0) setTimeout(turn.end, this.least).unref();
    else turn?.end();
  }

  /** The client has its answer, or has left. Work that was begun keeps its turn until it ends: those who leave would use more than their turns. */
  end(): void {
    this.over = true;
    const { turn } = this;
    if (turn && turn.grantedAt !== null) setTimeout(turn.end, LONGEST_WORK).unref();
    else this.release();
  }

  /** Runs work that waits for others, without the turn. @param refused ends the wait for the next turn, and the turn @throws QueueFull, ClientLeft */
  async without<T>(work: () => Promise<T>, refused?: AbortSignal): Promise<T> {
    this.release();
    const result = await work();
    const ready = this.enter();
    refused?.addEventListener('abort', () => {
      this.release();
    });
    await ready;
    return result;
  }
}

/** Middleware that lets a request in when its turn comes, until its response begins (`ServingAdapter`). @param turnOf null: needs none */
export function inTurn(turnOf: (request: Request) => RequestTurn | null) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const turn = turnOf(request);
    if (!turn) {
      next();
      return;
    }
    request.turn = turn;
    onceClosed(response, () => {
      turn.end();
    });
    const ready = turn.enter();
    const refuse = (error: unknown) => {
      // A client that has left needs no answer.
      if (!request.socket.destroyed) next(error);
    };
    if (ready) ready.then(() => next(), refuse);
    else next();
  };
}
