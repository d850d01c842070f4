import type { Request } from 'express';

/** The caller and operation of a request. */
export interface Attempt {
  caller: NonNullable<Request['caller']>;
  /** Method and route template: `POST /v1/invites`. */
  operation: string;
  requestId: string;
}

/** @returns null before the caller is known, and for an unknown path */
export function attemptOf(request: Request): Attempt | null {
  const { caller } = request;
  const route = (request.route as { path?: string } | undefined)?.path;
  return caller && route ? { caller, operation: `${request.method} ${route}`, requestId: request.id } : null;
}

/** Whether requests with this method are audited: reads are not, because they change nothing. */
export function isWrite(method: string): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}
