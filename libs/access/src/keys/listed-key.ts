import sql, { empty, type Sql } from 'sql-template-tag';

/** A key as people see it. It contains nothing secret. */
export interface ListedKey {
  id: string;
  name: string;
  /** `tk_live_5961…d7f5` */
  display: string;
  scopes: string[];
  platformBlog: boolean;
  status: 'active' | 'expired' | 'revoked';
  /** null when an operator created it. */
  createdBy: string | null;
  /** That person's name, as long as the organization may see it. */
  creator: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** The key that replaces it. */
  replacedBy: string | null;
  /** Whether nobody has used it for 30 days, although it works. */
  unused: boolean;
}

export type KeyRow = Omit<ListedKey, 'display'> & { firstFour: string; lastFour: string };

const STATUS = sql`CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired'
  ELSE 'active' END`;

/** Conditions for the key `k`: it works, and nobody has used it for 30 days; it expires within 14 days, and has not been replaced. */
export const KEY_IS = {
  unused: sql`k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    AND coalesce(k.last_used_at, k.created_at) <= now() - interval '30 days'`,
  expiring: sql`k.revoked_at IS NULL AND k.replaced_by IS NULL AND k.expires_at > now()
    AND k.expires_at <= now() + interval '14 days'`,
};

/** Which keys to list: all that meet each condition. */
export interface KeyFilter {
  /** In the name or the shown characters, ignoring case; empty for all. */
  search: string;
  unused: boolean;
  expiring: boolean;
}

/** The condition of a filter, for {@link selectKeys}. */
export function matching({ search, unused, expiring }: KeyFilter, prefix: string): Sql {
  const shown = sql`${prefix} || '_live_' || k.first_four || '…' || k.last_four`;
  const text = asShown(search).toLowerCase();
  return sql`${text ? sql`AND (strpos(lower(k.name), ${text}) > 0 OR strpos(${shown}, ${text}) > 0)` : empty}
    ${unused ? sql`AND ${KEY_IS.unused}` : empty} ${expiring ? sql`AND ${KEY_IS.expiring}` : empty}`;
}

/** The part of a search that can be in what is shown of a key: of its text, the first characters. */
function asShown(search: string): string {
  const [, start] = /^([a-z][a-z0-9]*_live_[0-9a-f]{4})[0-9a-f]*$/i.exec(search) ?? [];
  return start ?? search.replaceAll('...', '…');
}

/** The organization's active keys, newest first, then the others. */
export function selectKeys(organizationId: string, where: Sql, limit: Sql): Sql {
  return sql`
    SELECT k.id, k.name, k.first_four AS "firstFour", k.last_four AS "lastFour", k.scopes, ${STATUS} AS status,
      k.platform_blog AS "platformBlog", k.created_by AS "createdBy", u.first_name || ' ' || u.last_name AS creator,
      k.created_at AS "createdAt", k.last_used_at AS "lastUsedAt", k.expires_at AS "expiresAt",
      k.revoked_at AS "revokedAt", k.replaced_by AS "replacedBy",
      ${KEY_IS.unused} AS unused
    FROM api_keys k LEFT JOIN users u ON u.id = k.created_by
    WHERE k.organization_id = ${organizationId} ${where}
    ORDER BY ${STATUS} = 'active' DESC, k.created_at DESC, k.id DESC ${limit}`;
}

/** The text of a key without its secret part. */
export function maskedKey(prefix: string, { firstFour, lastFour }: Pick<KeyRow, 'firstFour' | 'lastFour'>): string {
  return `${prefix}_live_${firstFour}…${lastFour}`;
}
