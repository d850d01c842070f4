import type { Request } from 'express';
import type { ApiOperation } from '@app/audit';
import { networkOf } from '@app/serving';

/** The caller and operation of a request. */
export interface Attempt {
  caller: NonNullable<Request['caller']>;
  /** Method and route template: `POST /v1/invites`. */
  operation: ApiOperation;
  requestId: string;
  network: string;
  /** The fields of the JSON body. */
  fields: string[];
}

/** @returns null before the caller is known, and for an unknown path */
export function attemptOf(request: Request): Attempt | null {
  const { caller } = request;
  const route = (request.route as { path?: string } | undefined)?.path;
  if (!caller || !route) return null;
  const operation = `${request.method} ${route}` as ApiOperation;
  return { caller, operation, requestId: request.id, network: networkOf(request.ip), fields: request.sentFields ?? [] };
}

/** Whether requests with this method are audited: reads are not, because they change nothing. */
export function isWrite(method: string): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}
