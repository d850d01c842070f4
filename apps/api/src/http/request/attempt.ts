import { createHash } from 'node:crypto';
import type { Request } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set once the content is valid. See {@link contentHashOf}. */
    contentHash?: Buffer;
  }
}

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

/** SHA-256 of the canonical JSON of a request's query and body: the order of keys makes no difference. */
export function contentHashOf(...content: unknown[]): Buffer {
  return createHash('sha256').update(canonical(content)).digest();
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`;
}
