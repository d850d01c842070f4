import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiKeys, Invites, Organizations } from '@app/accounts';
import { type Env, Vault } from '@app/config';
import { connect, Database } from '@app/database';
import { sizeOf } from '../demo/demo.js';
import { loadDemo } from '../load-demo.js';

/** What the first start made: an organization to look at, and the only showing of a key to it. */
export interface Demo {
  slug: string;
  key: string;
}

/**
 * Loads the demo organizations when they are not there, and makes one key. A start that was interrupted half-way is
 * taken up where it was. Null when all of it was done before.
 */
export async function ensureDemo(env: Env): Promise<Demo | null> {
  const dataSource = await connect({ url: env.migrationUrl, poolSize: 2, applicationName: 'tutoring start' });
  const folder = mkdtempSync(join(tmpdir(), 'tutoring-demo-'));
  try {
    const db = new Database(dataSource);
    const keys = new ApiKeys(db, env);
    const organizations = new Organizations(db, new Invites(db, env, new Vault(env)));
    const known = await organizations.idBySlug(DEMO_SLUG);
    if (known && (await keys.list(known)).length > 0) return null;
    const workplace = { env, db, keys, organizations, organizationId: () => Promise.reject(new Error('unused')) };
    const loaded = await loadDemo(workplace, { folder, size: sizeOf('small'), seed: 1, onProgress: () => undefined });
    const first = loaded.find(({ slug }) => slug === DEMO_SLUG);
    if (!first) throw new Error(`The demo has no organization "${DEMO_SLUG}"`);
    const { key } = await keys.create(first.id, { name: 'First start' });
    return { slug: first.slug, key };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await dataSource.destroy();
  }
}

/** The demo's first organization, as its generator names it. */
export const DEMO_SLUG = 'wattle-lane';
