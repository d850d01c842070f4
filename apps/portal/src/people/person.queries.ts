import sql, { raw, type Sql } from 'sql-template-tag';
import { codesKnownTo, madeBy, openInvitesOf } from '@app/access';
import { IS_STAFF, MANAGES, TAKES_PART } from '@app/database';
import { shownName, STAFF_NOTES_VERSION, visibleColumns } from '@app/people';
import { codes, MAKER } from './codes.queries.js';
import { targetOf, waitingParents } from './people.queries.js';

/** A membership of somebody, or their being a parent, as the organization may see it. */
export interface TieRow {
  kind: 'member' | 'parent';
  role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent';
  status: 'accepted' | 'pending' | 'archived';
  waits: boolean;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  phone: string | null;
  created_at: Date;
  accepted_at: Date | null;
  archived_at: Date | null;
}

/** What somebody has, as numbers. */
export interface RelationCountsRow {
  keys: number;
  relations: number;
  classrooms: number;
  groups: number;
  invites: number;
  /** Invites to others that they or their keys made, and that nobody has answered. */
  made: number;
  ahead: number;
}

export interface NamedRow {
  id: string;
  name: string;
}

/** An invite or code that somebody came by. */
export interface CameByRow {
  scope: 'organization' | 'classroom' | 'group' | 'tutor_student' | 'parent' | 'account';
  role: 'tutor' | 'admin' | 'student' | 'parent';
  target: string | null;
  /** Whether it was for their address. */
  personal: boolean;
  standing: boolean;
  approval: 'waiting' | 'approved' | null;
  joined_at: Date;
  /** When it was made, and by which person or API key. */
  created_at: Date;
  maker: string | null;
  key: string | null;
}

/** Somebody who came by an invite or code that a person or their keys made. */
export interface LetInRow extends NamedRow {
  role: CameByRow['role'];
  joined_at: Date;
  /** Whether they belong here. */
  belongs: boolean;
}

export interface FamilyRow extends NamedRow {
  as: 'child' | 'parent';
}

/** Up to two rows: members may be parents too. */
export function tiesOf(organizationId: string, userId: string): Sql {
  const shown = (alias: string) => visibleColumns(alias, ['first_name', 'last_name', 'email', 'phone']);
  return sql`
    SELECT 'member' AS kind, m.role, m.status, m.approval_requested_at IS NOT NULL AS waits, ${shown('m')}, m.created_at,
      m.accepted_at, m.archived_at
    FROM members m LEFT JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
    UNION ALL SELECT 'parent', 'parent', p.status, w.user_id IS NOT NULL, ${shown('p')}, p.created_at, p.accepted_at, NULL
    FROM parents p LEFT JOIN users u ON u.id = p.user_id
    LEFT JOIN (${waitingParents(organizationId)}) w ON w.user_id = p.user_id
    WHERE p.organization_id = ${organizationId} AND p.user_id = ${userId}
      AND (p.enrolled_at IS NOT NULL OR p.status = 'archived' OR w.user_id IS NOT NULL)`;
}

/** How somebody came, the first first. Invites are deleted 30 days after they expire. */
export function cameBy(organizationId: string, userId: string): Sql {
  return sql`
    SELECT i.scope, i.role, ${targetOf(organizationId)} AS target, i.email IS NOT NULL AS personal, i.standing, j.approval,
      j.joined_at, i.created_at, ${MAKER}
    FROM joins j JOIN invites i ON i.organization_id = j.organization_id AND i.id = j.invite_id
    WHERE j.organization_id = ${organizationId} AND j.user_id = ${userId}
    ORDER BY j.joined_at, j.invite_id LIMIT 20`;
}

/** The codes that end when somebody leaves, or manages no longer. */
export function codesOf(organizationId: string, userId: string): Sql {
  const manages = sql`EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
    AND m.${MANAGES} AND m.status = 'accepted')`;
  return codes(
    organizationId,
    sql`SELECT i.* FROM invites i WHERE ${codesKnownTo(organizationId, { userId }, manages)} ORDER BY i.id LIMIT 200`,
  );
}

/** Who came by what somebody or their keys made, the last first; nobody as long as they manage. */
export function letInBy(organizationId: string, userId: string): Sql {
  return sql`
    SELECT j.user_id AS id, ${shownName('t')} AS name, i.role, j.joined_at, t.status <> 'archived' AS belongs
    FROM invites i JOIN joins j ON j.organization_id = i.organization_id AND j.invite_id = i.id
    JOIN LATERAL (
      SELECT m.* FROM (SELECT status, accepted_at, supplied_first_name, supplied_last_name FROM members
          WHERE organization_id = j.organization_id AND user_id = j.user_id AND i.role <> 'parent') m
      UNION ALL SELECT status, accepted_at, supplied_first_name, supplied_last_name FROM parents
        WHERE organization_id = j.organization_id AND user_id = j.user_id AND i.role = 'parent') t ON true
    LEFT JOIN users u ON u.id = j.user_id
    WHERE i.organization_id = ${organizationId} AND j.user_id <> ${userId} AND ${madeBy(organizationId, { userId })}
      AND NOT EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
        AND m.${MANAGES} AND m.status <> 'archived')
    ORDER BY j.joined_at DESC, j.user_id LIMIT 100`;
}

export function relationCountsOf(organizationId: string, userId: string): Sql {
  return sql`
    SELECT (SELECT count(*)::integer FROM api_keys WHERE organization_id = ${organizationId} AND created_by = ${userId}
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())) AS keys,
      (SELECT count(*)::integer FROM tutor_students WHERE organization_id = ${organizationId} AND status = 'active'
        AND (tutor_id = ${userId} OR student_id = ${userId})) AS relations,
      (SELECT count(*)::integer FROM classroom_members WHERE organization_id = ${organizationId}
        AND user_id = ${userId}) AS classrooms,
      (SELECT count(*)::integer FROM student_group_members p JOIN student_groups g ON g.id = p.group_id
        WHERE g.organization_id = ${organizationId} AND p.user_id = ${userId}) AS groups,
      (SELECT count(*)::integer FROM invites i WHERE ${openInvitesOf(organizationId, userId)}
        AND (i.expires_at IS NULL OR i.expires_at > now())) AS invites,
      (SELECT count(*)::integer FROM invites i WHERE i.organization_id = ${organizationId} AND i.email IS NOT NULL
        AND i.scope <> 'account' AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
        AND ${madeBy(organizationId, { userId })}) AS made,
      (SELECT count(*)::integer FROM sessions s WHERE s.organization_id = ${organizationId} AND s.starts_at > now()
        AND s.status IN ('pending', 'scheduled') AND (s.tutor_id = ${userId} OR s.student_id = ${userId} OR EXISTS (
          SELECT FROM lesson_participants p WHERE p.organization_id = ${organizationId} AND p.session_id = s.id
            AND p.student_id = ${userId} AND p.${TAKES_PART}))) AS ahead`;
}

/** The children of a parent, and the parents of a student. */
export function familyOf(organizationId: string, userId: string): Sql {
  return sql`
    SELECT 'child' AS as, m.user_id AS id, ${shownName('m')} AS name
    FROM parent_students l JOIN members m ON m.organization_id = l.organization_id AND m.user_id = l.student_id
    LEFT JOIN users u ON u.id = m.user_id
    WHERE l.organization_id = ${organizationId} AND l.parent_id = ${userId}
    UNION ALL SELECT 'parent', p.user_id, ${shownName('p')}
    FROM parent_students l JOIN parents p ON p.organization_id = l.organization_id AND p.user_id = l.parent_id
    LEFT JOIN users u ON u.id = p.user_id
    WHERE l.organization_id = ${organizationId} AND l.student_id = ${userId}
    ORDER BY 1, 3, 2 LIMIT 100`;
}

/** What is noted of a student; nothing of anybody else. */
export interface NotesRow {
  notes: string | null;
  version: string;
}

export const notesOf = (organizationId: string, userId: string): Sql => sql`
  SELECT m.staff_notes AS notes, ${raw(STAFF_NOTES_VERSION)} AS version FROM members m
  WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId} AND m.role = 'student'`;

/** Since when they have a calendar address, if they have one. */
export const calendarOf = (organizationId: string, userId: string): Sql =>
  sql`SELECT created_at AS since FROM calendar_feeds WHERE organization_id = ${organizationId} AND user_id = ${userId}`;

/** As whom somebody may be billed. */
export interface BillingRow {
  as: 'student' | 'parent';
  self: boolean;
  /** The linked parent who was chosen. */
  chosen: string | null;
  name: string | null;
  address: string | null;
  /** They are not reminded of invoices. */
  spared: boolean;
}

export function billingOf(organizationId: string, userId: string): Sql {
  return sql`
    SELECT 'student' AS as, m.bills_self AS self, (SELECT l.parent_id FROM parent_students l
        WHERE l.organization_id = ${organizationId} AND l.student_id = m.user_id AND l.pays) AS chosen,
      m.billing_name AS name, m.billing_address AS address, m.no_reminders AS spared
    FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId} AND m.role = 'student'
    UNION ALL SELECT 'parent', false, NULL, p.billing_name, p.billing_address, p.no_reminders
    FROM parents p WHERE p.organization_id = ${organizationId} AND p.user_id = ${userId} AND p.enrolled_at IS NOT NULL`;
}

/** Who could take over sessions. */
export function otherStaff(organizationId: string, userId: string): Sql {
  return sql`
    SELECT m.user_id AS id, ${shownName('m')} AS name
    FROM members m LEFT JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.status = 'accepted' AND m.${IS_STAFF} AND m.user_id <> ${userId}
    ORDER BY 2, 1 LIMIT 200`;
}
