import { chmodSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Env } from '@app/config';

/** Where mails are written when there is no SMTP server. */
export function mailFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'mail');
}

/** Where API and worker log. */
export function logFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'log');
}

/** Mails and logs are nobody else's on this machine. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}
