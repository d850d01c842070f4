import sql, { empty, join, type Sql } from 'sql-template-tag';
import { behind, IS_STAFF, MANAGES, type Position } from '@app/database';
import { foundPerson, shownName, visibleColumns } from '@app/people';
import type { PeopleFilter } from './people.filter.js';

/** Somebody who belongs to the organization, as it may see them. */
export interface PersonRow {
  kind: 'member' | 'parent';
  id: string;
  role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent';
  status: 'accepted' | 'pending' | 'archived';
  waits: boolean;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  phone: string | null;
  /** Whether the person has proven the address; null where the organization may not know. */
  verified: boolean | null;
  invited_at: Date | null;
  accepted_at: Date | null;
  created_at: Date;
  /** Whether the search finds them; null without one. */
  found: boolean | null;
}

/** An invite that is neither accepted nor revoked. */
export interface InviteRow {
  id: string;
  scope: 'organization' | 'classroom' | 'group' | 'tutor_student' | 'parent';
  role: 'tutor' | 'admin' | 'student' | 'parent';
  email: string | null;
  target: string | null;
  standing: boolean;
  expires_at: Date | null;
  expired: boolean;
  /** Waits for an owner: whoever made it manages no longer. */
  held: boolean;
  created_at: Date;
}

/** Parents who came by a code and wait for a child: the first one, or another; and those whose address was changed. */
const asksForChild = sql`(readdressed_at IS NOT NULL AND status = 'pending' OR EXISTS (SELECT FROM joins j
  JOIN invites i ON i.organization_id = j.organization_id AND i.id = j.invite_id
  WHERE j.organization_id = parents.organization_id AND j.user_id = parents.user_id AND j.approval = 'waiting'
    AND i.role = 'parent'))`;

/** The ids of those, of an organization. */
export const waitingParents = (organizationId: string): Sql => sql`
  SELECT j.user_id FROM joins j JOIN invites i ON i.organization_id = j.organization_id AND i.id = j.invite_id
  WHERE j.organization_id = ${organizationId} AND j.approval = 'waiting' AND i.role = 'parent'
  UNION SELECT user_id FROM parents WHERE organization_id = ${organizationId} AND readdressed_at IS NOT NULL AND status = 'pending'`;

/** Excludes parents who are also members, so that they are listed once. */
const notListed = sql`AND NOT EXISTS (SELECT FROM members m WHERE m.organization_id = parents.organization_id
  AND m.user_id = parents.user_id)`;

/**
 * A page of people, newest first. Students, staff and parents are read from an index each and merged; logins are joined only to the rows of the
 * page, because row-level security makes joins costly. @param rows one more than are shown @param current leaves out whoever was removed
 */
export function peoplePage(
  organizationId: string,
  filter: PeopleFilter,
  after: Position | null,
  rows: number,
  current = false,
): Sql {
  const { status, role, days, search } = filter;
  const found =
    search === '' ? sql`NULL::boolean` : foundPerson('t', search, ['first_name', 'last_name', 'email', 'phone']);
  const added = days ? sql`AND created_at > now() - ${days}::integer * interval '1 day'` : empty;
  const since = current ? sql`${added} AND status <> 'archived'` : added;
  const before = sql`${since}${behind(after, 'created_at', 'user_id')}`;
  const members = (
    which: Sql,
  ) => sql`(SELECT 'member' AS kind, user_id, role, status, approval_requested_at IS NOT NULL AS waits,
      supplied_first_name, supplied_last_name, supplied_email, supplied_phone, invited_at, accepted_at, frozen_at, created_at
    FROM members WHERE organization_id = ${organizationId} ${which} ${before}
    ORDER BY created_at DESC, user_id DESC LIMIT ${rows})`;
  const ofStatus = {
    accepted: sql`AND status = 'accepted'`,
    pending: sql`AND status = 'pending' AND approval_requested_at IS NULL`,
    waiting: sql`AND approval_requested_at IS NOT NULL`,
    archived: sql`AND status = 'archived'`,
  };
  const withStatus = status ? ofStatus[status] : empty;
  const withRole = role === 'team' ? sql`AND ${MANAGES}` : role ? sql`AND role = ${role}` : empty;
  const parents = (
    which: Sql,
  ) => sql`(SELECT 'parent' AS kind, user_id, 'parent' AS role, status, ${asksForChild} AS waits,
      supplied_first_name, supplied_last_name, supplied_email, supplied_phone, NULL::timestamptz AS invited_at, accepted_at,
      frozen_at, created_at
    FROM parents WHERE organization_id = ${organizationId} ${which} ${before}
    ORDER BY created_at DESC, user_id DESC LIMIT ${rows})`;
  const waiting = sql`AND user_id IN (${waitingParents(organizationId)})`;
  const alone = role === 'parent' ? empty : notListed;
  const ofParents = [
    ...(status === 'waiting'
      ? [parents(waiting)]
      : [parents(sql`AND enrolled_at IS NOT NULL AND (${status}::text IS NULL OR status = ${status}) ${alone}`)]),
    // Those without a child are listed only while they wait for one.
    ...(status === null ? [parents(sql`AND enrolled_at IS NULL ${waiting} ${alone}`)] : []),
  ];
  const sources = [
    ...(role === 'parent'
      ? []
      : status
        ? [members(sql`${withStatus} ${withRole}`)]
        : everybody(members, withRole, role)),
    ...(role === null || role === 'parent' ? ofParents : []),
  ];
  return sql`
    SELECT t.kind, t.user_id AS id, t.role, t.status, t.waits, ${visibleColumns('t', ['first_name', 'last_name', 'email', 'phone'])},
      CASE WHEN t.accepted_at IS NOT NULL THEN u.email_verified_at IS NOT NULL END AS verified,
      t.invited_at, t.accepted_at, t.created_at, ${found} AS found
    FROM (SELECT * FROM (${join(sources, ' UNION ALL ')}) a ORDER BY created_at DESC, user_id DESC LIMIT ${rows}) t
    LEFT JOIN users u ON u.id = t.user_id ORDER BY t.created_at DESC, t.user_id DESC`;
}

/** Reads students and other members separately, because each has a partial index in this order. */
function everybody(members: (which: Sql) => Sql, withRole: Sql, role: PeopleFilter['role']): Sql[] {
  return [
    ...(role === null || role === 'student' ? [members(sql`AND role = 'student'`)] : []),
    ...(role === 'student' ? [] : [members(sql`AND ${IS_STAFF} ${withRole}`)]),
  ];
}

/** Names of those whom somebody is listed with. */
export interface RelatedRow {
  id: string;
  names: string[];
}

/** The parents of students, the children of parents, and the subjects of tutors: four each at most, of which three are shown. */
export const relatedTo = (organizationId: string, ids: readonly string[]): Sql => sql`
  SELECT p.id, ARRAY(
    (SELECT ${shownName('t')} FROM parent_students l JOIN parents t ON t.organization_id = l.organization_id AND t.user_id = l.parent_id
      LEFT JOIN users u ON u.id = t.user_id WHERE l.organization_id = ${organizationId} AND l.student_id = p.id ORDER BY l.linked_at LIMIT 4)
    UNION ALL (SELECT ${shownName('m')} FROM parent_students l JOIN members m ON m.organization_id = l.organization_id AND m.user_id = l.student_id
      LEFT JOIN users u ON u.id = m.user_id WHERE l.organization_id = ${organizationId} AND l.parent_id = p.id ORDER BY l.linked_at LIMIT 4)
    UNION ALL (SELECT s.name FROM tutor_subjects t JOIN subjects s ON s.organization_id = t.organization_id AND s.id = t.subject_id
      WHERE t.organization_id = ${organizationId} AND t.user_id = p.id ORDER BY s.name LIMIT 4)) AS names
  FROM unnest(${ids}::uuid[]) AS p (id)`;

/** How many people and invites wait for an answer, counted up to a maximum. */
export function openCounts(organizationId: string, most: number): Sql {
  // An index has the students, another one the staff.
  const pending = (which: Sql) => sql`(SELECT FROM members WHERE organization_id = ${organizationId} AND ${which}
    AND status = 'pending' AND approval_requested_at IS NULL LIMIT ${most})`;
  return sql`
    SELECT (SELECT count(*)::integer FROM (SELECT user_id FROM members WHERE organization_id = ${organizationId}
        AND approval_requested_at IS NOT NULL
        UNION ALL (${waitingParents(organizationId)}) LIMIT ${most}) w) AS waiting,
      (SELECT count(*)::integer FROM (${pending(sql`role = 'student'`)} UNION ALL ${pending(IS_STAFF)} LIMIT ${most}) p) AS pending,
      (SELECT count(*)::integer FROM (SELECT FROM invites WHERE organization_id = ${organizationId}
        AND accepted_at IS NULL AND revoked_at IS NULL AND scope <> 'account' LIMIT ${most}) i) AS invites`;
}

/** What an invite `i` is for: the name of a classroom, a group, a tutor or a child. */
export const targetOf = (organizationId: string): Sql => sql`
  CASE i.scope
    WHEN 'classroom' THEN (SELECT name FROM classrooms WHERE organization_id = ${organizationId} AND id = i.target_id)
    WHEN 'group' THEN (SELECT name FROM student_groups WHERE organization_id = ${organizationId} AND id = i.target_id)
    WHEN 'organization' THEN NULL
    ELSE (SELECT ${shownName('m')}
      FROM members m LEFT JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = ${organizationId} AND m.user_id = i.target_id) END`;

/** A page of the invites that can still be accepted, sent again or revoked, newest first. @param ending only those that end within three days */
export function invitesPage(organizationId: string, ending: boolean, after: Position | null, rows: number): Sql {
  const soon = ending ? sql`AND expires_at > now() AND expires_at <= now() + interval '3 days'` : empty;
  const before = behind(after);
  return sql`
    SELECT i.id, i.scope, i.role, i.email, i.standing, i.expires_at, coalesce(i.expires_at <= now(), false) AS expired,
      i.held_at IS NOT NULL AS held, i.created_at, ${targetOf(organizationId)} AS target
    FROM (SELECT * FROM invites WHERE organization_id = ${organizationId} AND accepted_at IS NULL AND revoked_at IS NULL
      AND scope <> 'account' ${soon} ${before} ORDER BY created_at DESC, id DESC LIMIT ${rows}) i
    ORDER BY i.created_at DESC, i.id DESC`;
}
