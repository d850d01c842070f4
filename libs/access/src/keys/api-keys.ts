import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, hashOfToken } from '@app/config';
import { type Away, Database, type Deadline } from '@app/database';
import { type Actor, AuditLog, OPERATOR } from '@app/audit';
import { asManager } from '@app/people';
import { Refused } from '@app/rules';
import { WaysIn } from '../membership/ways-in.js';
import { revokeInvitesOf } from './invites-of-keys.js';
import { KeyNotices } from './key-notices.js';
import { type KeyFilter, type KeyRow, type ListedKey, maskedKey, matching, selectKeys } from './listed-key.js';
import {
  expired,
  expiryOf,
  KeyMadeBefore,
  keyName,
  mintKey,
  type NewApiKey,
  type Overlap,
  OVERLAPS,
} from './new-key.js';
import { readsCodes, type Scope } from './scopes.js';

/** What the guard needs to know about a key to admit or refuse a request. */
export interface KeyLookup {
  id: string;
  organizationId: string;
  organization: { name: string; slug: string; timeZone: string; currency: string };
  scopes: string[];
  platformBlog: boolean;
  expired: boolean;
  revoked: boolean;
  usedThisMinute: boolean;
  /** Set if nothing of the organization may be read here. */
  away: Away | null;
}

type FoundKey = KeyLookup & KeyLookup['organization'] & { state: string | null; movedTo: string | null };

/** A new key. Its text is shown once and cannot be derived from what is stored. */
export interface MadeKey {
  id: string;
  key: string;
  expiresAt: Date | null;
}

/** Further work in the transaction that creates a key. */
export type HandOver = (made: MadeKey) => Promise<void>;

/** How many keys people may have at a time, and create in a day: all administrators get a mail about each. */
const MOST_ACTIVE_KEYS = 100;
const MOST_NEW_KEYS_A_DAY = 50;

const NOT_ACTIVE = 'This key has expired or been revoked, so it cannot be replaced. Create a new one.';

const KEY = /^[a-z][a-z0-9]{0,15}_live_[0-9a-f]{64}$/;

/** API keys: `<prefix>_live_` and 64 hex characters. Only the SHA-256 is stored. Each change is audited and mailed in its own transaction. */
@Injectable()
export class ApiKeys {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly audit: AuditLog,
    private readonly notices: KeyNotices,
    private readonly waysIn: WaysIn,
  ) {}

  /** The stored hash of a key; null for a malformed one. */
  hash(key: string): Buffer | null {
    return KEY.test(key) ? hashOfToken(key) : null;
  }

  /** The key with this hash, whatever its state; null when there is none. */
  async find(hash: Buffer, deadline?: Deadline): Promise<KeyLookup | null> {
    return ApiKeys.found(await this.db.lookUp(ApiKeys.lookUp(hash), deadline));
  }

  /** The statement of {@link find}, for a transaction that depends on its result. */
  static lookUp(hash: Buffer): Sql {
    return sql`SELECT id, scopes, platform_blog AS "platformBlog", expired, revoked, used_this_minute AS "usedThisMinute",
      organization_id AS "organizationId", organization_name AS name, organization_slug AS slug, time_zone AS "timeZone",
      currency, state, moved_to AS "movedTo" FROM api_key_by_hash(${hash})`;
  }

  /** The key in the rows of {@link lookUp}. */
  static found([row]: object[]): KeyLookup | null {
    if (!row) return null;
    const { name, slug, timeZone, currency, state, movedTo, ...key } = row as FoundKey;
    const away = state === 'moved' || state === 'arriving' ? { movedTo } : null;
    return { ...key, organization: { name, slug, timeZone, currency }, away };
  }

  /** The organization's keys: active ones first, then the others; each group newest first. */
  async list(organizationId: string, most = 10_000, offset = 0, filter?: KeyFilter): Promise<ListedKey[]> {
    const limit = sql`LIMIT ${most} OFFSET ${offset}`;
    const where = filter ? matching(filter, this.env.get('API_KEY_PREFIX')) : empty;
    const [rows] = await this.db.read<[KeyRow]>({ organizationId }, selectKeys(organizationId, where, limit));
    return rows.map((row) => this.listed(row));
  }

  /** One of the organization's keys; null if it has no such key. */
  async get(organizationId: string, id: string): Promise<ListedKey | null> {
    const wanted = selectKeys(organizationId, sql`AND k.id = ${id}`, empty);
    const [[row]] = await this.db.read<[KeyRow]>({ organizationId }, wanted);
    return row ? this.listed(row) : null;
  }

  /** The key that this one replaced; null if it replaced none. */
  async replacedBy(organizationId: string, id: string): Promise<ListedKey | null> {
    const wanted = selectKeys(organizationId, sql`AND k.replaced_by = ${id}`, sql`LIMIT 1`);
    const [[row]] = await this.db.read<[KeyRow]>({ organizationId }, wanted);
    return row ? this.listed(row) : null;
  }

  /** Creates a key. @throws Refused for invalid values; KeyMadeBefore if this form was sent before */
  create(organizationId: string, wanted: NewApiKey, by = OPERATOR, handOver?: HandOver): Promise<MadeKey> {
    return asManager(this.db, organizationId, by, async () => {
      const made = await this.add(organizationId, wanted, by);
      if (by.userId) await this.refuseTooMany(organizationId);
      const { display, scopes, name } = made;
      const expiresAt = made.expiresAt?.toISOString() ?? null;
      const details = { api_key_id: made.id, scopes, expires_at: expiresAt };
      await this.audit.add(organizationId, by, 'create API key', details);
      await this.notices.tell(organizationId, 'key_created', by.userId, { name, display, scopes, expiresAt });
      await handOver?.(made);
      return made;
    });
  }

  /**
   * Creates a key with the same name, scopes and lifetime. The old one keeps working for the overlap, within its own expiry.
   * @throws Refused for a key that no longer works; KeyMadeBefore when this form was sent before
   */
  replace(
    organizationId: string,
    id: string,
    { overlap, formToken }: { overlap: Overlap; formToken?: string },
    by = OPERATOR,
    handOver?: HandOver,
  ): Promise<MadeKey> {
    return asManager(this.db, organizationId, by, async () => {
      const [locked] = await this.db.query(sql`
        SELECT FROM api_keys WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`);
      if (!locked) throw Refused.notFound();
      const [old] = await this.db.query<KeyRow>(selectKeys(organizationId, sql`AND k.id = ${id}`, empty));
      const { name, expiresAt, createdAt, status } = old!;
      const wanted = {
        name,
        scopes: old!.scopes as Scope[],
        expiresAt: expiresAt && new Date(Date.now() + expiresAt.getTime() - createdAt.getTime()),
        platformBlog: old!.platformBlog && !by.userId,
        formToken,
      };
      const made = await this.add(organizationId, wanted, by);
      if (status !== 'active') throw Refused.invalidState(status, ['active'], NOT_ACTIVE);
      const [ended] = await this.db.query<{ expires_at: Date }>(sql`
        WITH ended AS (
          UPDATE api_keys SET replaced_by = ${made.id}, replaced_at = now(),
            expires_at = least(expires_at, now() + ${OVERLAPS[overlap]} * interval '1 hour')
          WHERE organization_id = ${organizationId} AND id = ${id} RETURNING expires_at)
        SELECT expires_at FROM ended`);
      if (by.userId) await this.refuseTooMany(organizationId);
      const until = ended!.expires_at.toISOString();
      const details = { api_key_id: id, replaced_by: made.id, expires_at: until };
      await this.audit.add(organizationId, by, 'replace API key', details);
      await this.notices.tell(organizationId, 'key_replaced', by.userId, {
        name,
        display: this.listed(old!).display,
        successor: made.display,
        expiresAt: overlap === 'now' ? null : until,
      });
      await handOver?.(made);
      return made;
    });
  }

  /**
   * Revokes a key at once, and the open invites that it made. Idempotent.
   *
   * @param replaceCodes whether the codes that it could read are replaced
   * @throws Refused when this organization has no such key
   */
  revokeOf(organizationId: string, id: string, by = OPERATOR, replaceCodes = false): Promise<ListedKey> {
    return asManager(this.db, organizationId, by, async () => {
      const revoked = await this.db.query(sql`
        WITH revoked AS (
          UPDATE api_keys SET revoked_at = now()
          WHERE organization_id = ${organizationId} AND id = ${id} AND revoked_at IS NULL RETURNING id)
        SELECT id FROM revoked`);
      const [row] = await this.db.query<KeyRow>(selectKeys(organizationId, sql`AND k.id = ${id}`, empty));
      if (!row) throw Refused.notFound();
      const key = this.listed(row);
      if (revoked.length === 0) return key;
      const { name, display } = key;
      const invites = (await this.db.query(revokeInvitesOf(organizationId, sql`SELECT ${id}::uuid`))).length;
      const codes = replaceCodes
        ? (await this.waysIn.end(organizationId, by, { keyId: id }, readsCodes(key), [])).codes
        : 0;
      await this.audit.add(organizationId, by, 'revoke API key', { api_key_id: id, invites, codes });
      await this.notices.tell(organizationId, 'key_revoked', by.userId, { name, display });
      return key;
    });
  }

  /** The organization that a key belongs to. Only for the operator. */
  async organizationOf(id: string): Promise<string | null> {
    const [found] = await this.db.lookUp<{ organization_id: string | null }>(
      sql`SELECT organization_of_api_key(${id}) AS organization_id`,
    );
    return found?.organization_id ?? null;
  }

  /** Records that the keys were used in this minute. */
  async markUsed(organizationId: string, ids: string[]): Promise<void> {
    await this.db.transaction({ organizationId }, () =>
      this.db.query(sql`
        UPDATE api_keys SET last_used_at = date_trunc('minute', now())
        WHERE organization_id = ${organizationId} AND id = ANY (${ids})
          AND (last_used_at IS NULL OR last_used_at < date_trunc('minute', now()))`),
    );
  }

  /** Stores a new key inside the ambient transaction. */
  private async add(organizationId: string, wanted: NewApiKey, by: Actor) {
    const { scopes = ['read'], expiresAt = null, platformBlog = false, formToken = null } = wanted;
    const name = keyName(wanted.name);
    if (scopes.length === 0) throw Refused.invalid('Choose at least one scope.', 'scopes');
    const prefix = this.env.get('API_KEY_PREFIX');
    const { key, keyHash, ...ends } = mintKey(prefix);
    // The column is named only when it is set: the roles that people reach have no right to it.
    const [capability, given] = platformBlog ? [sql`, platform_blog`, sql`, true`] : [empty, empty];
    const [row] = await this.db.query<{ id: string; expires_at: Date | null; over: boolean }>(sql`
      INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four, scopes, created_by, expires_at,
        form_token${capability})
      VALUES (${uuidv7()}, ${organizationId}, ${name}, ${keyHash}, ${ends.firstFour}, ${ends.lastFour}, ${scopes},
        ${by.userId}, ${expiryOf(organizationId, expiresAt)}, ${formToken}${given})
      ON CONFLICT (organization_id, form_token) DO NOTHING RETURNING id, expires_at, expires_at <= now() AS over`);
    if (!row) {
      const [before] = await this.db.query<{ id: string }>(sql`
        SELECT id FROM api_keys WHERE organization_id = ${organizationId} AND form_token = ${formToken}`);
      throw new KeyMadeBefore(before!.id);
    }
    // An instant is compared by who chose it; whether a day is over depends on the organization's time zone.
    if (row.over && !(expiresAt instanceof Date)) throw expired();
    return { id: row.id, key, expiresAt: row.expires_at, name, scopes, display: maskedKey(prefix, ends) };
  }

  /** @throws Refused when people have created too many; replaced keys do not count as active */
  private async refuseTooMany(organizationId: string): Promise<void> {
    // Serialized, so that the count stays correct. Each statement sees what was committed before it.
    await this.db.lock(`keys of ${organizationId}`);
    const [made] = await this.db.query<{ active: number; today: number }>(sql`
      SELECT count(*) FILTER (WHERE revoked_at IS NULL AND replaced_by IS NULL
          AND (expires_at IS NULL OR expires_at > now()))::integer AS active,
        count(*) FILTER (WHERE created_at > now() - interval '1 day')::integer AS today
      FROM api_keys WHERE organization_id = ${organizationId}`);
    if (made!.active > MOST_ACTIVE_KEYS) {
      const text = `An organization can have at most ${MOST_ACTIVE_KEYS} active keys. Revoke one first.`;
      throw Refused.conflict('too_many_keys', text);
    }
    if (made!.today <= MOST_NEW_KEYS_A_DAY) return;
    const text = `An organization can create ${MOST_NEW_KEYS_A_DAY} keys a day. Try again tomorrow.`;
    throw Refused.conflict('too_many_new_keys', text);
  }

  private listed({ firstFour, lastFour, ...key }: KeyRow): ListedKey {
    return { ...key, display: maskedKey(this.env.get('API_KEY_PREFIX'), { firstFour, lastFour }) };
  }
}
