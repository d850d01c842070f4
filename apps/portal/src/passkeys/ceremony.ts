import type { Request } from 'express';
import type { Env } from '@app/config';
import { PageError } from '../web/page-error.js';

/** What a passkey is bound to: the configured address, or on a machine of one's own the one that was typed. */
export function siteOf(env: Env, request: Request): URL {
  return new URL(env.get('APP_URL') ?? `${request.protocol}://${request.get('Host') ?? 'localhost'}`);
}

/** What the library throws says what is wrong with the answer of the browser: it is not ours to log. */
export async function verified<T>(verify: () => Promise<T>): Promise<T> {
  return verify().catch(() => {
    throw PageError.badForm();
  });
}

/** The credential that a browser sent, as far as we read it ourselves; the library checks the rest. */
export function credentialOf(sent: unknown): { id: string } {
  if (typeof (sent as { id?: unknown } | null | undefined)?.id !== 'string') throw PageError.badForm();
  return sent as { id: string };
}
