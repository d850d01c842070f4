import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What the data folder holds: the ENCRYPTION_KEY, what the passwords of its PostgreSQL are derived from, and what the demo
 * owner's password is.
 */
export type DataSecret = 'encryption-key' | 'database-secret' | 'demo-owner-secret';

/** A secret of the data folder: 64 hex characters, made at the first use and kept, readable by its owner only. */
export function dataSecret(dataDir: string, name: DataSecret): string {
  return knownSecret(dataDir, name) ?? make(dataDir, join(dataDir, name));
}

/** The same, null when there is none yet. */
export function knownSecret(dataDir: string, name: DataSecret): string | null {
  const file = join(dataDir, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

/** Whole or not at all, and of two processes at once the first one wins: a secret that was used once must not change. */
function make(dataDir: string, file: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}
