import sql, { type Sql } from 'sql-template-tag';

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
}

export type KeyRow = Omit<ListedKey, 'display'> & { firstFour: string; lastFour: string };

const STATUS = sql`CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired'
  ELSE 'active' END`;

/** The organization's active keys, newest first, then the others. */
export function selectKeys(organizationId: string, where: Sql, limit: Sql): Sql {
  return sql`
    SELECT k.id, k.name, k.first_four AS "firstFour", k.last_four AS "lastFour", k.scopes, ${STATUS} AS status,
      k.platform_blog AS "platformBlog", k.created_by AS "createdBy", u.first_name || ' ' || u.last_name AS creator,
      k.created_at AS "createdAt", k.last_used_at AS "lastUsedAt", k.expires_at AS "expiresAt",
      k.revoked_at AS "revokedAt", k.replaced_by AS "replacedBy"
    FROM api_keys k LEFT JOIN users u ON u.id = k.created_by
    WHERE k.organization_id = ${organizationId} ${where}
    ORDER BY ${STATUS} = 'active' DESC, k.created_at DESC, k.id DESC ${limit}`;
}

/** The text of a key without its secret part. */
export function maskedKey(prefix: string, { firstFour, lastFour }: Pick<KeyRow, 'firstFour' | 'lastFour'>): string {
  return `${prefix}_live_${firstFour}…${lastFour}`;
}
