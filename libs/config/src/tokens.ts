import { hash, randomBytes } from 'node:crypto';

/** 256 random bits, for links. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** How secrets of 256 random bits are stored. A fast hash is safe for them; a slow one would block the process. */
export function hashOfToken(token: string | Buffer): Buffer {
  return hash('sha256', token, 'buffer');
}
