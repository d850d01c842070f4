import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { ApiKeys } from '@app/access';
import { hashPassword, Identities, Organizations, SignIn } from '@app/people';
import type { Env } from '@app/config';
import { Database, normalizeEmail } from '@app/database';
import { DEMO_ORGANIZATIONS, sizeOf } from '../demo/demo.js';
import { isRecorded } from '../demo/recorded.js';
import { loadDemo, OtherDemo } from '../load-demo.js';
import { type Rules, withRules } from '../rules.js';
import { dataSecret } from './data-secret.js';

/** The organization that the first key is for. */
export const DEMO_SLUG = DEMO_ORGANIZATIONS[0]!.slug;

const FIRST_KEY = 'First start';

/** Somebody of the demo organization who can sign in to the portal. */
export interface DemoLogin {
  role: 'owner' | 'tutor' | 'parent';
  email: string;
  /** null once they have changed it. */
  password: string | null;
}

/** Creates the demo organizations and shows a key: once, however often the first start is interrupted. */
export class FirstStart {
  private readonly db: Database;
  private readonly keys: ApiKeys;
  private readonly organizations: Organizations;

  private constructor(
    readonly env: Env,
    readonly rules: Rules,
  ) {
    [this.db, this.keys, this.organizations] = [rules.get(Database), rules.get(ApiKeys), rules.get(Organizations)];
  }

  /** Runs `work` on a connection as the owner. */
  static with<T>(env: Env, work: (firstStart: FirstStart) => Promise<T>): Promise<T> {
    return withRules(env, 'owner', (rules) => work(new FirstStart(env, rules)), 'tutoring start');
  }

  /** Loads the demo organizations, unless they have a key, or all have what loading records last: then they are loaded already. */
  async loadDemo(signal: AbortSignal): Promise<void> {
    const known = await this.organizations.idBySlug(DEMO_SLUG);
    if (known && ((await this.keys.list(known)).length > 0 || (await this.isComplete()))) return;
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-demo-'));
    try {
      await loadDemo(this, { folder, size: sizeOf('small'), seed: 1, signal });
    } catch (error) {
      // Somebody chose another seed or size, whose data serves as well.
      if (!(error instanceof OtherDemo)) throw error;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Whether every demo organization was loaded to the end, whatever its seed and size. */
  private async isComplete(): Promise<boolean> {
    for (const { slug } of DEMO_ORGANIZATIONS) {
      const organizationId = await this.organizations.idBySlug(slug);
      if (!organizationId || !(await isRecorded(this.db, organizationId))) return false;
    }
    return true;
  }

  /** Creates the first key and shows it. If that fails, the next start replaces it. @param show gets null if a key was shown before */
  async showKey(show: (key: string | null, logins: DemoLogin[]) => Promise<boolean>): Promise<void> {
    const organizationId = await this.organizations.idBySlug(DEMO_SLUG);
    const unshown = join(this.env.get('DATA_DIR'), 'first-key-unshown');
    const keys = organizationId ? await this.keys.list(organizationId) : [];
    if (!organizationId || (keys.length > 0 && !existsSync(unshown))) {
      await show(null, organizationId ? await this.logins(organizationId) : []);
      return;
    }
    const key = await withRules(this.env, 'portal', async (rules) => {
      for (const { id, name, lastUsedAt } of keys) {
        if (name === FIRST_KEY && !lastUsedAt) await rules.get(ApiKeys).revokeOf(organizationId, id);
      }
      remember(unshown);
      return (await rules.get(ApiKeys).create(organizationId, { name: FIRST_KEY })).key;
    });
    if (await show(key, await this.logins(organizationId))) rmSync(unshown, { force: true });
  }

  /** The demo organization's owner, and the tutor and the parent with the most lessons ahead. Sets a password, derived from a secret in the data folder, for those who have none yet. */
  private async logins(organizationId: string): Promise<DemoLogin[]> {
    const people = await this.db.transaction({ organizationId }, () =>
      this.db.query<Pick<DemoLogin, 'role' | 'email'>>(sql`
        (SELECT 'owner' AS role, u.email FROM members m JOIN users u ON u.id = m.user_id
          WHERE m.organization_id = ${organizationId} AND m.role = 'owner' AND m.status = 'accepted' AND NOT u.placeholder_email
          ORDER BY m.created_at, m.id LIMIT 1)
        UNION ALL (SELECT 'tutor', u.email FROM members m JOIN users u ON u.id = m.user_id
          JOIN sessions s ON s.organization_id = ${organizationId} AND s.tutor_id = m.user_id AND s.status = 'scheduled' AND s.starts_at > now()
          WHERE m.organization_id = ${organizationId} AND m.role = 'tutor' AND m.status = 'accepted' AND NOT u.placeholder_email
          GROUP BY u.id ORDER BY count(*) DESC, u.id LIMIT 1)
        UNION ALL (SELECT 'parent', u.email FROM parents p JOIN users u ON u.id = p.user_id
          JOIN parent_students l ON l.organization_id = ${organizationId} AND l.parent_id = p.user_id
          JOIN lesson_participants e ON e.organization_id = ${organizationId} AND e.student_id = l.student_id
          JOIN sessions s ON s.organization_id = ${organizationId} AND s.id = e.session_id AND s.status = 'scheduled' AND s.starts_at > now()
          WHERE p.organization_id = ${organizationId} AND p.status = 'accepted' AND NOT u.placeholder_email
          GROUP BY u.id ORDER BY count(*) DESC, u.id LIMIT 1)`),
    );
    const logins: DemoLogin[] = [];
    for (const { role, email } of people)
      logins.push({ role, email, password: await this.passwordOf(organizationId, email) });
    return logins;
  }

  private async passwordOf(organizationId: string, email: string): Promise<string | null> {
    const identities = this.rules.get(Identities);
    const login = await identities.find(normalizeEmail(email));
    if (!login) return null;
    const password = demoPassword(dataSecret(this.env.get('DATA_DIR'), 'demo-owner-secret'));
    if (login.passwordSalt === null) {
      await identities.vouchFor(login.address);
      const hash = await hashPassword(password);
      await this.db.transaction({ organizationId }, async () => {
        await this.db.query(sql`SELECT set_config('app.maintenance', 'on', true)`);
        await this.db.query(sql`
          INSERT INTO credentials AS c (user_id, password_hash) VALUES (${login.id}, ${hash})
          ON CONFLICT (user_id) DO UPDATE SET password_hash = EXCLUDED.password_hash WHERE c.password_hash IS NULL`);
      });
    }
    const still = await this.rules.get(SignIn).withPassword(email, password);
    return still && password;
  }
}

/** A password of 80 bits, in groups that are easy to type. It differs between installations. */
function demoPassword(secret: string): string {
  const digest = createHmac('sha256', secret).update('password of the demo owner').digest();
  const letters = 'abcdefghjkmnpqrstuvwxyz023456789';
  const text = Array.from(digest.subarray(0, 16), (byte) => letters[byte % 32]).join('');
  return text.replace(/(.{4})(?=.)/g, '$1-');
}

function remember(file: string): void {
  try {
    writeFileSync(file, 'The first API key has not been shown yet: the next start creates another.\n', { mode: 0o600 });
  } catch {
    // The disk is full. The key will most likely be shown anyway.
  }
}
