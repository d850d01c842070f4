import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Vault } from '@app/config';
import { Database, type Tenant } from '@app/database';
import type { RebuildTarget } from '@app/jobs';
import { Publishing } from './publishing.js';

/** How long calls are signed with both secrets. */
const OVERLAP = '24 hours';

/** The stored secret is encrypted with a fresh nonce, so its hash differs for each secret. */
const VERSION = raw(`left(encode(sha256(secret), 'hex'), 16)`);

/** The minimum interval between tests, because the URL may belong to somebody else. */
const TEST_PAUSE = '10 seconds';

export interface HookSite {
  target: RebuildTarget;
  /** null for a platform brand. */
  organizationId: string | null;
  tenant: Tenant;
}

export const siteOf = (organizationId: string): HookSite => ({
  target: `organization:${organizationId}`,
  organizationId,
  tenant: Publishing.tenantOf(organizationId),
});

export const siteOfBrand = (brand: string): HookSite => ({
  target: `brand:${brand}`,
  organizationId: null,
  tenant: Publishing.tenantOf(null),
});

/** The parts of a hook that people may see. Excludes its secret and its path. */
export interface BuildHook {
  url: string;
  createdAt: Date;
  /** Until when calls are signed with the previous secret too. */
  previousUntil: Date | null;
  /** Changes with the secret, and reveals nothing about it. */
  version: string;
}

export interface Delivery {
  id: string;
  kind: 'rebuild' | 'test';
  status: 'queued' | 'sent' | 'failed' | 'dead' | 'suppressed';
  attempts: number;
  problem: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** Hides the path, which hosting services treat as a secret: whoever knows it can start builds. */
export function withoutPath(address: string): string {
  const { origin, pathname, search } = new URL(address);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}

/** The build hooks of sites, for the portal and the operator's commands. Changes run inside the ambient transaction. */
@Injectable()
export class BuildHooks {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
  ) {}

  /** The site's hook; null when it has none. */
  async find({ target, tenant }: HookSite): Promise<BuildHook | null> {
    const [[hook]] = await this.db.read<[BuildHook]>(
      tenant,
      sql`SELECT url, created_at AS "createdAt",
          CASE WHEN previous_until > now() THEN previous_until END AS "previousUntil", ${VERSION} AS version
        FROM rebuild_hooks WHERE target = ${target}`,
    );
    return hook ? { ...hook, url: withoutPath(hook.url) } : null;
  }

  /** Adds a hook where there is none. @returns the secret, which is shown once; null if the site already has a hook */
  async add({ target, organizationId }: HookSite, url: string): Promise<string | null> {
    const secret = newSecret();
    const added = await this.db.query(sql`
      INSERT INTO rebuild_hooks (target, organization_id, url, secret)
      VALUES (${target}, ${organizationId}, ${url}, ${this.seal(secret)}) ON CONFLICT DO NOTHING RETURNING target`);
    return added.length > 0 ? secret : null;
  }

  /** Sets or replaces a hook for the operator: it may point into the operator's own network. @returns the secret */
  async set({ target, organizationId }: HookSite, url: string, secret = newSecret()): Promise<string> {
    await this.db.query(sql`
      INSERT INTO rebuild_hooks (target, organization_id, url, secret, trusted)
      VALUES (${target}, ${organizationId}, ${url}, ${this.seal(secret)}, true)
      ON CONFLICT (target) DO UPDATE SET url = excluded.url, secret = excluded.secret, trusted = true,
        previous_secret = NULL, previous_until = NULL`);
    return secret;
  }

  /** Gives the hook a new secret; the previous one also signs for a day. @param version the one the caller saw; null with another one */
  async rotate({ target }: HookSite, version: string | null = null): Promise<string | null> {
    const secret = newSecret();
    const { length } = await this.db.query(sql`
      WITH rotated AS (UPDATE rebuild_hooks SET previous_secret = secret, secret = ${this.seal(secret)},
        previous_until = now() + ${OVERLAP}::interval
        WHERE target = ${target} AND (${version}::text IS NULL OR ${VERSION} = ${version}) RETURNING target)
      SELECT target FROM rotated`);
    return length > 0 ? secret : null;
  }

  /** @returns whether there was one */
  async remove({ target }: HookSite): Promise<boolean> {
    const { length } = await this.db.query(sql`
      WITH removed AS (DELETE FROM rebuild_hooks WHERE target = ${target} RETURNING target) SELECT target FROM removed`);
    return length > 0;
  }

  /** Queues a call that starts no build. @returns false if there is no hook or the last test was moments ago */
  async test({ target, organizationId }: HookSite): Promise<boolean> {
    await this.db.lock(`test of ${target}`);
    const { length } = await this.db.query(sql`
      WITH queued AS (
        INSERT INTO outbox (id, organization_id, topic, kind, recipient)
        SELECT ${uuidv7()}, ${organizationId}::uuid, 'rebuild', 'test', ${target}
        WHERE EXISTS (SELECT FROM rebuild_hooks WHERE target = ${target}) AND NOT EXISTS (
          SELECT FROM outbox WHERE ${of(organizationId)} AND topic = 'rebuild' AND kind = 'test' AND recipient = ${target}
            AND created_at > now() - ${TEST_PAUSE}::interval)
        RETURNING id)
      SELECT id FROM queued`);
    return length > 0;
  }

  /** The last calls, newest first. */
  async deliveries({ target, organizationId, tenant }: HookSite, most: number): Promise<Delivery[]> {
    const [rows] = await this.db.read<[Delivery]>(
      tenant,
      sql`SELECT id, kind, status, attempts, last_error AS problem, created_at AS "createdAt", finished_at AS "finishedAt"
        FROM outbox WHERE ${of(organizationId)} AND topic = 'rebuild' AND recipient = ${target} ORDER BY created_at DESC, id DESC LIMIT ${most}`,
    );
    return rows;
  }

  private seal(secret: string): Buffer {
    return this.vault.seal('hook secrets', secret);
  }
}

/** The condition for what belongs to an organization, or to none, as an index can follow it: IS NOT DISTINCT FROM follows none. */
const of = (organizationId: string | null): Sql =>
  organizationId === null ? sql`organization_id IS NULL` : sql`organization_id = ${organizationId}`;

function newSecret(): string {
  return randomBytes(32).toString('hex');
}
