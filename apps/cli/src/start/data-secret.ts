import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryName } from '../postgres/server-process.js';

/** The secrets in the data folder: ENCRYPTION_KEY, and those that passwords are derived from. */
export type DataSecret = 'encryption-key' | 'database-secret' | 'demo-owner-secret';

/** A secret in the data folder: 64 hex characters, created on first use. Only the file's owner can read it. */
export function dataSecret(dataDir: string, name: DataSecret): string {
  return knownSecret(dataDir, name) ?? make(dataDir, join(dataDir, name));
}

/** Like {@link dataSecret}, but returns null instead of creating the secret. */
export function knownSecret(dataDir: string, name: DataSecret): string | null {
  const file = join(dataDir, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

/** Creates the file atomically. The first of two processes wins, because a secret in use must not change. */
function make(dataDir: string, file: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = temporaryName(`${file}.`);
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  try {
    linked(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}

/** Links the file atomically: of two concurrent calls, one succeeds. */
export function linked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
