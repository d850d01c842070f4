import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env } from '@app/config';
import { Database, type Deadline, type Lane } from '@app/database';
import type { Scope } from './scopes.js';

/** A key as the guard sees it: enough to admit or refuse, and to know on whose behalf. */
export interface KeyLookup {
  id: string;
  organizationId: string;
  organization: { name: string; slug: string; timeZone: string; currency: string };
  scopes: string[];
  platformBlog: boolean;
  expired: boolean;
  revoked: boolean;
  usedThisMinute: boolean;
}

export interface NewApiKey {
  name: string;
  scopes?: Scope[];
  expiresAt?: Date | null;
  platformBlog?: boolean;
  createdBy?: string | null;
}

/** A key as its organization lists it. Nothing in it opens anything. */
export interface ApiKey {
  id: string;
  name: string;
  firstFour: string;
  lastFour: string;
  scopes: string[];
  platformBlog: boolean;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
}

interface KeyRow {
  id: string;
  scopes: string[];
  platform_blog: boolean;
  expired: boolean;
  revoked: boolean;
  used_this_minute: boolean;
  organization_id: string;
  organization_name: string;
  organization_slug: string;
  time_zone: string;
  currency: string;
}

const KEY = /^[a-z][a-z0-9]{0,15}_live_[0-9a-f]{64}$/;

/**
 * API keys: `<prefix>_live_` and 64 hex characters, 256 random bits. Only the SHA-256 is stored: of so much randomness
 * a fast hash gives nothing away, and a slow one would block the process at every request.
 */
@Injectable()
export class ApiKeys {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
  ) {}

  /** What is stored of a key; null for a text that cannot be one. */
  hash(key: string): Buffer | null {
    return KEY.test(key) ? sha256(key) : null;
  }

  /** The key with this hash, whatever its state; null when there is none. */
  async find(hash: Buffer, lane: Lane = 'keys', deadline?: Deadline): Promise<KeyLookup | null> {
    const [row] = await this.db.lookUp<KeyRow>(sql`SELECT * FROM api_key_by_hash(${hash})`, lane, deadline);
    return row ? toLookup(row) : null;
  }

  /** Makes a key. The returned text is shown once: nothing that is stored leads back to it. */
  async create(organizationId: string, wanted: NewApiKey): Promise<{ id: string; key: string }> {
    const secret = randomBytes(32).toString('hex');
    const key = `${this.env.get('API_KEY_PREFIX')}_live_${secret}`;
    const id = uuidv7();
    await this.db.transaction({ organizationId }, () =>
      this.db.query(sql`
        INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four, scopes, platform_blog, created_by,
          expires_at)
        VALUES (${id}, ${organizationId}, ${wanted.name}, ${sha256(key)}, ${secret.slice(0, 4)}, ${secret.slice(-4)},
          ${wanted.scopes ?? ['read']}, ${wanted.platformBlog ?? false}, ${wanted.createdBy ?? null},
          ${wanted.expiresAt?.toISOString() ?? null})`),
    );
    return { id, key };
  }

  /** The organization's keys, newest first, revoked and expired ones too. */
  async list(organizationId: string): Promise<ApiKey[]> {
    return this.db.transaction({ organizationId }, () =>
      this.db.query<ApiKey>(sql`
        SELECT id, name, first_four AS "firstFour", last_four AS "lastFour", scopes, platform_blog AS "platformBlog",
          expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", created_at AS "createdAt"
        FROM api_keys WHERE organization_id = ${organizationId} ORDER BY created_at DESC, id DESC`),
    );
  }

  /** Revokes at once, everywhere. Returns false when there is no such key; a second time changes nothing. */
  async revoke(id: string): Promise<boolean> {
    const [found] = await this.db.lookUp<{ organization_id: string | null }>(
      sql`SELECT organization_of_api_key(${id}) AS organization_id`,
    );
    const organizationId = found?.organization_id;
    if (!organizationId) return false;
    await this.db.transaction({ organizationId }, () =>
      this.db.query(sql`
        UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
        WHERE organization_id = ${organizationId} AND id = ${id}`),
    );
    return true;
  }

  /** Notes that the keys were used in this minute. */
  async markUsed(organizationId: string, ids: string[]): Promise<void> {
    await this.db.transaction({ organizationId }, () =>
      this.db.query(sql`
        UPDATE api_keys SET last_used_at = date_trunc('minute', now())
        WHERE organization_id = ${organizationId} AND id = ANY (${ids})
          AND (last_used_at IS NULL OR last_used_at < date_trunc('minute', now()))`),
    );
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function toLookup(row: KeyRow): KeyLookup {
  return {
    id: row.id,
    organizationId: row.organization_id,
    organization: {
      name: row.organization_name,
      slug: row.organization_slug,
      timeZone: row.time_zone,
      currency: row.currency,
    },
    scopes: row.scopes,
    platformBlog: row.platform_blog,
    expired: row.expired,
    revoked: row.revoked,
    usedThisMinute: row.used_this_minute,
  };
}
