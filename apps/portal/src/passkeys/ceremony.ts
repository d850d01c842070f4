import type { Request } from 'express';
import type { Env } from '@app/config';
import { PageError } from '../web/page-error.js';

/** The site that a passkey is bound to: the configured URL, or in development the one in the address bar. */
export function siteOf(env: Env, request: Request): URL {
  const scheme = request.secure ? 'https' : 'http';
  return new URL(env.get('APP_URL') ?? `${scheme}://${request.get('Host') || 'localhost'}`);
}

/** The library throws for the browser's invalid responses, which are not failures on our side. */
export async function verified<T>(verify: () => Promise<T>): Promise<T> {
  return verify().catch(() => {
    throw PageError.badForm();
  });
}

/** The part of the browser's credential that we read ourselves; the library checks the rest. */
export function credentialOf(sent: unknown): { id: string } {
  if (typeof (sent as { id?: unknown } | null | undefined)?.id !== 'string') throw PageError.badForm();
  return sent as { id: string };
}
