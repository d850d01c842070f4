import { createHash } from 'node:crypto';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set once the content is valid. See {@link contentHashOf}. */
    contentHash?: Buffer;
    /** The names in the JSON body, once it is valid. */
    sentFields?: string[];
  }
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
