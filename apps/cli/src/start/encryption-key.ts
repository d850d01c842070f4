import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The data folder's own ENCRYPTION_KEY, made at the first use and kept: readable by its owner only. */
export function encryptionKeyOf(dataDir: string): string {
  const file = join(dataDir, 'encryption-key');
  if (!existsSync(file)) make(dataDir, file);
  return readFileSync(file, 'utf8').trim();
}

/** Whole or not at all, and of two processes at once the first one wins: a key that was used once must not change. */
function make(dataDir: string, file: string): void {
  mkdirSync(dataDir, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
