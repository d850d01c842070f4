import sql, { raw, type Sql } from 'sql-template-tag';
import { behind, type Position, visiblePerson } from '@app/database';
import { targetOf } from './people.queries.js';

/** A code or link that anybody can use, and what it did. */
export interface CodeRow {
  id: string;
  scope: 'organization' | 'classroom' | 'group' | 'tutor_student' | 'parent';
  role: 'tutor' | 'student' | 'parent';
  /** The classroom, group, tutor or child that it is for. */
  target: string | null;
  standing: boolean;
  sealed: Buffer | null;
  /** null without a limit. */
  places: number | null;
  created_at: Date;
  expires_at: Date | null;
  /** `off`: can be turned on by replacing it. `replaced`: closed for good. */
  state: 'works' | 'expired' | 'off' | 'replaced';
  /** The person who made it in the portal, or the API key. */
  maker: string | null;
  key: string | null;
  /** People who came by it and have not left: in all, within an hour, and within a day. */
  joined: number;
  last_hour: number;
  last_day: number;
  /** When the first of the last day came. */
  since: Date | null;
}

/** Who made an invite `i`: a person in the portal, or else an API key. */
export const MAKER = raw(`(SELECT ${visiblePerson('m').full_name} FROM members m LEFT JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = i.organization_id AND m.user_id = i.created_by) AS maker,
  (SELECT k.name FROM api_keys k WHERE k.organization_id = i.organization_id AND k.id = i.api_key_id) AS key`);

const isPermanent = sql`standing AND (revoked_at IS NULL OR switched_off)`;

/** The permanent codes that work or are switched off. */
export function permanentCodes(organizationId: string): Sql {
  return codes(organizationId, sql`SELECT * FROM invites WHERE organization_id = ${organizationId} AND ${isPermanent}`);
}

/** A page of the other codes, newest first; closed ones only if somebody has come by them lately. */
export function codesPage(organizationId: string, after: Position | null, rows: number): Sql {
  const before = behind(after);
  return codes(
    organizationId,
    sql`SELECT * FROM invites c WHERE organization_id = ${organizationId} AND email IS NULL AND NOT (${isPermanent})
      AND (revoked_at IS NULL OR switched_off OR EXISTS (SELECT FROM joins j WHERE j.organization_id = c.organization_id
        AND j.invite_id = c.id AND j.joined_at > now() - interval '30 days'))
      ${before} ORDER BY created_at DESC, id DESC LIMIT ${rows}`,
  );
}

/** One code, in whatever state. */
export function oneCode(organizationId: string, id: string): Sql {
  return codes(
    organizationId,
    sql`SELECT * FROM invites WHERE organization_id = ${organizationId} AND id = ${id} AND email IS NULL`,
  );
}

/** Codes with what they did. @param which yields their rows of invites */
export function codes(organizationId: string, which: Sql): Sql {
  return sql`
    SELECT i.id, i.scope, i.role, i.standing, i.sealed, i.places, i.created_at, i.expires_at, ${targetOf(organizationId)} AS target,
      CASE WHEN i.switched_off THEN 'off' WHEN i.revoked_at IS NOT NULL THEN 'replaced'
        WHEN i.expires_at <= now() THEN 'expired' ELSE 'works' END AS state, ${MAKER}, j.*
    FROM (${which}) i, LATERAL (
      SELECT count(*)::integer AS joined, (count(*) FILTER (WHERE joined_at > now() - interval '1 hour'))::integer AS last_hour,
        (count(*) FILTER (WHERE joined_at > now() - interval '1 day'))::integer AS last_day,
        min(joined_at) FILTER (WHERE joined_at > now() - interval '1 day') AS since
      FROM joins t WHERE t.organization_id = i.organization_id AND t.invite_id = i.id AND NOT CASE i.role
        WHEN 'parent' THEN EXISTS (SELECT FROM parents p WHERE p.organization_id = t.organization_id
          AND p.user_id = t.user_id AND p.status = 'archived')
        ELSE EXISTS (SELECT FROM members m WHERE m.organization_id = t.organization_id AND m.user_id = t.user_id
          AND m.status = 'archived') END) j
    ORDER BY i.created_at DESC, i.id DESC`;
}
