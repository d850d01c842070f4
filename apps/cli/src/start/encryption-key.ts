import { resolve } from 'node:path';
import type pg from 'pg';
import { type Env, loadEnv, Vault } from '@app/config';
import { DatabaseFault } from '@app/database';
import { Failure } from '../output.js';
import { withClient } from '../postgres/client.js';
import { dataSecret, knownSecret } from './data-secret.js';

/** The encryption key from the configuration or the data folder; null if there is none. */
export function knownEncryptionKey(env: Env): string | null {
  return env.get('ENCRYPTION_KEY') ?? knownSecret(env.get('DATA_DIR'), 'encryption-key');
}

/** The encryption key. Creates one only if the database has no organizations. @throws Failure if the data's key is lost */
export async function encryptionKey(env: Env): Promise<string> {
  const known = knownEncryptionKey(env);
  if (known !== null) return known;
  const dataDir = env.get('DATA_DIR');
  if ((await contentOf(env.migrationUrl)).organizations) {
    throw new Failure(
      `The encryption key ${resolve(dataDir, 'encryption-key')} is missing, but the database contains data encrypted with it.`,
      'Restore it from a backup, or set ENCRYPTION_KEY. To start over, delete the database too.',
      'If the key is lost for good, set ENCRYPTION_KEY to a new one (openssl rand -hex 32), then set up build hooks and join codes again.',
    );
  }
  return dataSecret(dataDir, 'encryption-key');
}

/** Whether the key decrypts the database's data; null if there is no encrypted data. */
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

/** Looks at all organizations' rows, as the owner. @throws DatabaseFault */
function contentOf(ownerUrl: string): Promise<{ organizations: boolean; sealed: Buffer | null }> {
  const look = async (client: pg.Client) => {
    await client.query('SET app.maintenance = on');
    const { rows: tables } = await client.query<{ there: boolean }>(
      `SELECT to_regclass('organizations') IS NOT NULL AND to_regclass('invites') IS NOT NULL AS there`,
    );
    if (!tables[0]!.there) return { organizations: false, sealed: null };
    const { rows } = await client.query<{ organizations: boolean; sealed: Buffer | null }>(
      `SELECT EXISTS (SELECT FROM organizations) AS organizations,
        (SELECT sealed FROM invites WHERE standing AND revoked_at IS NULL ORDER BY created_at DESC LIMIT 1) AS sealed`,
    );
    return rows[0]!;
  };
  return withClient(ownerUrl, look).catch((error: unknown) => {
    throw DatabaseFault.of(error, ownerUrl) ?? error;
  });
}
