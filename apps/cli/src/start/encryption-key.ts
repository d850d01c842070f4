import { resolve } from 'node:path';
import pg from 'pg';
import { type Env, loadEnv, Vault } from '@app/config';
import { DatabaseFault } from '@app/database';
import { Failure } from '../output.js';
import { dataSecret, knownSecret } from './data-secret.js';

/** The encryption key that is configured or lies in the data folder; null when there is none. */
export function knownEncryptionKey(env: Env): string | null {
  return env.get('ENCRYPTION_KEY') ?? knownSecret(env.get('DATA_DIR'), 'encryption-key');
}

/**
 * The encryption key, made in the data folder for a database without organizations. Never a new one beside old data:
 * what was encrypted with the old one could not be read any more.
 *
 * @throws Failure when the key of the data is gone
 */
export async function encryptionKey(env: Env): Promise<string> {
  const known = knownEncryptionKey(env);
  if (known !== null) return known;
  const dataDir = env.get('DATA_DIR');
  if ((await contentOf(env.migrationUrl)).organizations) {
    throw new Failure(
      `The encryption key ${resolve(dataDir, 'encryption-key')} is gone, and the database holds data that needs it.`,
      'Restore it from a backup, or set ENCRYPTION_KEY. To start over, delete the database too.',
      'If it is lost, set ENCRYPTION_KEY to a new one (openssl rand -hex 32), then set build hooks and join codes again.',
    );
  }
  return dataSecret(dataDir, 'encryption-key');
}

/** Whether the key opens what the database holds; null when it holds nothing that was encrypted. */
export async function keyFits(env: Env, key: string): Promise<boolean | null> {
  const { sealed } = await contentOf(env.migrationUrl);
  if (!sealed) return null;
  try {
    new Vault(loadEnv({ ENCRYPTION_KEY: key }, {})).open('join codes', sealed);
    return true;
  } catch {
    return false;
  }
}

/** As the owner, who asks to see the rows of all organizations. @throws DatabaseFault */
async function contentOf(ownerUrl: string): Promise<{ organizations: boolean; sealed: Buffer | null }> {
  const client = new pg.Client({
    connectionString: ownerUrl,
    options: '-c app.maintenance=on',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows: tables } = await client.query<{ there: boolean }>(
      `SELECT to_regclass('organizations') IS NOT NULL AND to_regclass('invites') IS NOT NULL AS there`,
    );
    if (!tables[0]!.there) return { organizations: false, sealed: null };
    const { rows } = await client.query<{ organizations: boolean; sealed: Buffer | null }>(
      `SELECT EXISTS (SELECT FROM organizations) AS organizations,
        (SELECT sealed FROM invites WHERE standing AND revoked_at IS NULL ORDER BY created_at DESC LIMIT 1) AS sealed`,
    );
    return rows[0]!;
  } catch (error) {
    throw DatabaseFault.of(error, ownerUrl) ?? error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
