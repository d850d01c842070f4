import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { ApiError } from '../errors/api-error.js';
import { errorBody } from '../errors/error-formats.js';
import { closeUnread } from './lingering-close.js';

/** The route that answers a request's method and path. */
export interface MatchedRoute {
  /** The template. */
  path: string;
  /** Whether it needs no key. */
  public: boolean;
}

/** Finds the route of a request, if there is one. Most checks need not know. */
export type RouteOf = () => MatchedRoute | undefined;

/** Why a request is refused, if it is. A check may set headers of that refusal. */
export type Check = (request: IncomingMessage, response: ServerResponse, routeOf: RouteOf) => ApiError | null;

/**
 * Refuses requests before Express sees them, which would cost many times as much as the refusal: those that HTTP forbids,
 * those of a key or an address that is known to be over its limit, and those that are too many for the process.
 */
export class EarlyRefusals {
  /**
   * @param begin begins the request's log line
   * @param checks in the order of refusal
   * @param usualHeaders of every answer to a client other than a page of another origin
   */
  constructor(
    readonly begin: (request: IncomingMessage, response: ServerResponse) => void,
    private readonly checks: Check[],
    private readonly match: (method: string, path: string) => MatchedRoute | undefined,
    private readonly usualHeaders: Record<string, string>,
  ) {}

  /**
   * Whether Express may see a request; refuses it otherwise. A page of another origin needs headers that depend on the page,
   * so its requests are checked behind Express' CORS.
   */
  readonly admits = (request: IncomingMessage, response: ServerResponse): boolean => {
    this.begin(request, response);
    return request.headers.origin !== undefined || this.passes(request, response);
  };

  /** Checks what {@link admits} has left to it. */
  readonly behindCors = (request: Request, response: Response, next: NextFunction): void => {
    if (request.headers.origin === undefined || this.passes(request, response)) next();
  };

  /** Sends a refusal, as cheaply as possible. */
  refuse(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
    const body = JSON.stringify(errorBody(error));
    // For the log line, which is written after the answer.
    Object.assign(request, { route: this.routeOf(request) });
    closeUnread(request, response);
    response
      .writeHead(error.status, {
        ...this.usualHeaders,
        'Cache-Control': 'no-store',
        ...error.headers,
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
      })
      .end(body);
  }

  /** Refuses a request that was not even checked. */
  refuseUnseen(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
    this.begin(request, response);
    this.refuse(request, response, error);
  }

  private passes(request: IncomingMessage, response: ServerResponse): boolean {
    const routeOf = () => this.routeOf(request);
    for (const check of this.checks) {
      const error = check(request, response, routeOf);
      if (error) {
        this.refuse(request, response, error);
        return false;
      }
    }
    return true;
  }

  private routeOf(request: IncomingMessage): MatchedRoute | undefined {
    return this.match(request.method!, pathOf(request));
  }
}

/** The path of a request, without its query string. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
