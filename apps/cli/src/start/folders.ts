import { chmodSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Env } from '@app/config';

/** Where mails are written without an SMTP server. */
export function mailFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'mail');
}

/** Where the processes write their logs. */
export function logFolder(env: Env): string {
  return resolve(env.get('DATA_DIR'), 'log');
}

/** Creates a folder for mails or logs that nobody else on this machine can read. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}
