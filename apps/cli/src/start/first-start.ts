import { mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiKeys, type Organizations } from '@app/accounts';
import type { Env } from '@app/config';
import { connect, Database } from '@app/database';
import { DEMO_ORGANIZATIONS, sizeOf } from '../demo/demo.js';
import { loadDemo, OtherDemo } from '../load-demo.js';
import { organizationsOf } from '../workplace.js';

/** The organization that the first key is for. */
export const DEMO_SLUG = DEMO_ORGANIZATIONS[0]!.slug;

const FIRST_KEY = 'First start';

/** What a first start makes once, however often it is interrupted: the demo organizations, and a key that is shown. */
export class FirstStart {
  private constructor(
    readonly env: Env,
    readonly db: Database,
    private readonly keys: ApiKeys,
    readonly organizations: Organizations,
  ) {}

  /** Runs `work` on a connection as the owner. */
  static async with<T>(env: Env, work: (firstStart: FirstStart) => Promise<T>): Promise<T> {
    const dataSource = await connect({ url: env.migrationUrl, poolSize: 2, applicationName: 'tutoring start' });
    const db = new Database(dataSource);
    const firstStart = new FirstStart(env, db, new ApiKeys(db, env), organizationsOf(db, env));
    return work(firstStart).finally(() => dataSource.destroy());
  }

  /** Loads the demo organizations, unless that was done: whoever has a key has them. */
  async loadDemo(signal: AbortSignal): Promise<void> {
    const known = await this.organizations.idBySlug(DEMO_SLUG);
    if (known && (await this.keys.list(known)).length > 0) return;
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-demo-'));
    try {
      await loadDemo(this, { folder, size: sizeOf('small'), seed: 1, signal });
    } catch (error) {
      // Somebody chose other demo data: that will do.
      if (!(error instanceof OtherDemo)) throw error;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /**
   * Makes the first key and shows it. One that could not be shown is replaced at the next start: a file of the data
   * folder remembers until then.
   *
   * @param show gets null when a key was shown before; tells whether anybody could read it
   */
  async showKey(show: (key: string | null) => Promise<boolean>): Promise<void> {
    const organizationId = await this.organizations.idBySlug(DEMO_SLUG);
    const unshown = join(this.env.get('DATA_DIR'), 'first-key-unshown');
    const keys = organizationId ? await this.keys.list(organizationId) : [];
    if (!organizationId || (keys.length > 0 && !existsSync(unshown))) {
      await show(null);
      return;
    }
    for (const { id, name, lastUsedAt } of keys) {
      if (name === FIRST_KEY && !lastUsedAt) await this.keys.revoke(id);
    }
    remember(unshown);
    const { key } = await this.keys.create(organizationId, { name: FIRST_KEY });
    if (await show(key)) rmSync(unshown, { force: true });
  }
}

function remember(file: string): void {
  try {
    writeFileSync(file, 'The first API key was not shown yet: the next start makes another.\n', { mode: 0o600 });
  } catch {
    // A full disk: the key will most likely be shown all the same.
  }
}
