import type { IncomingMessage, ServerResponse } from 'node:http';
import { closeUnread } from './lingering-close.js';
import { afterNonsense, beforeClosing, isRefusal } from './pause.js';
import type { Refusal } from './refusal.js';

/** Finds a request's route, if there is one. Most checks don't need it. */
export type RouteOf<Route> = () => Route | undefined;

/** Returns why a request is refused, or null. A check may set headers for the refusal. */
export type Check<Fault, Route> = (
  request: IncomingMessage,
  response: ServerResponse,
  routeOf: RouteOf<Route>,
) => Fault | null;

export interface EarlyRefusalRules<Fault, Route> {
  /** Begins the request's log line. */
  begin: (request: IncomingMessage, response: ServerResponse) => void;
  /** In the order of refusal. */
  checks: Check<Fault, Route>[];
  match: (method: string, path: string) => Route | undefined;
  render: (fault: Fault) => Refusal;
  /** Headers of every response. */
  usualHeaders: Record<string, string>;
}

/**
 * Refuses requests before Express sees them, which would cost many times as much as the refusal: requests that violate
 * HTTP, those of a client known to be over its limit, and those beyond the process's capacity.
 */
export class EarlyRefusals<Fault, Route extends { path: string }> {
  constructor(private readonly rules: EarlyRefusalRules<Fault, Route>) {}

  /** Whether Express may see a request; refuses it otherwise. */
  readonly admits = (request: IncomingMessage, response: ServerResponse): boolean => {
    this.begin(request, response);
    return this.passes(request, response);
  };

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.rules.begin(request, response);
  }

  /** Whether a request passes all checks; refuses it otherwise. */
  passes(request: IncomingMessage, response: ServerResponse): boolean {
    const routeOf = () => this.routeOf(request);
    for (const check of this.rules.checks) {
      const fault = check(request, response, routeOf);
      if (fault) {
        this.refuse(request, response, fault);
        return false;
      }
    }
    return true;
  }

  /** Refuses a request without checking it. */
  refuseUnseen(request: IncomingMessage, response: ServerResponse, fault: Fault): void {
    this.begin(request, response);
    this.refuse(request, response, fault);
  }

  /** Sends a refusal, as cheaply as possible. */
  refuse(request: IncomingMessage, response: ServerResponse, fault: Fault): void {
    const { status, headers, body } = this.rules.render(fault);
    // For the log line, which is written after the response.
    Object.assign(request, { route: this.routeOf(request) });
    closeUnread(request, response);
    const send = () => {
      // The client may have been cut off in the meantime.
      if (response.headersSent) return;
      response
        .writeHead(status, {
          ...this.rules.usualHeaders,
          'Cache-Control': 'no-store',
          ...headers,
          'Content-Length': Buffer.byteLength(body),
        })
        .end(body);
    };
    const ends = !response.shouldKeepAlive || response.hasHeader('Connection');
    if (ends && isRefusal(status)) beforeClosing.schedule(send);
    else if (ends && isViolation(status)) afterNonsense.schedule(send);
    else send();
  }

  private routeOf(request: IncomingMessage): Route | undefined {
    return this.rules.match(request.method!, pathOf(request));
  }
}

/** Whether a status is one of {@link httpFaultOf}. */
const isViolation = (status: number) => status === 400 || status === 417;

/** The path of a request, without its query string. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
