import { MANAGES } from '../schema/people.js';
import { TAKES_PART } from '../schema/scheduling.js';
import type { Invariant } from './invariant.js';

/** Somebody who belonged and has left, as `g`. */
const GONE = (who: 'members' | 'parents') => `${who} g WHERE g.status = 'archived' AND g.frozen_at IS NOT NULL`;

/** Rows `x` of a table that name somebody who has left. */
const named = (table: string, column: string, open: string, who: 'members' | 'parents' = 'members') =>
  `SELECT x.organization_id, x.${column} AS id FROM ${table} x WHERE ${open} AND EXISTS (SELECT FROM ${GONE(who)}
    AND g.organization_id = x.organization_id AND g.user_id = x.${column})`;

const AHEAD = `s.status IN ('pending', 'scheduled') AND s.starts_at > now()`;

/** Whether a person manages the organization of the row `x` now. */
const manages = (person: string) => `EXISTS (SELECT FROM members m WHERE m.organization_id = x.organization_id
  AND m.user_id = ${person} AND m.status = 'accepted' AND ${MANAGES.sql})`;

const OPEN = `x.revoked_at IS NULL AND x.accepted_at IS NULL AND (x.standing OR x.expires_at > now())`;

/** A code that works because a manager wanted it to, although whoever knows it has gone. */
const KEPT = `EXISTS (SELECT FROM audit_log u WHERE u.organization_id = x.organization_id AND u.details -> 'kept' ? x.id::text)`;

/** Who belongs, how they came, and what ends with it. */
export const PEOPLE = {
  'keys of managers': {
    says: 'Only who manages the organization has keys that work.',
    broken: `SELECT x.organization_id, x.id FROM api_keys x WHERE x.created_by IS NOT NULL AND x.revoked_at IS NULL
      AND (x.expires_at IS NULL OR x.expires_at > now()) AND NOT ${manages('x.created_by')}`,
  },
  'relations of the left': {
    says: 'Who has left has no relation to a tutor, a student or a child.',
    broken: [
      named('tutor_students', 'tutor_id', `x.status = 'active'`),
      named('tutor_students', 'student_id', `x.status = 'active'`),
      named('parent_students', 'parent_id', 'true', 'parents'),
    ].join(' UNION '),
  },
  'places of the left': {
    says: 'Who has left has no place in a classroom or a group, and leads none.',
    broken: [
      named('classroom_members', 'user_id', 'true'),
      named('classrooms', 'tutor_id', 'true'),
      named(
        '(SELECT v.organization_id, p.user_id FROM student_group_members p JOIN student_groups v ON v.id = p.group_id)',
        'user_id',
        'true',
      ),
      named('student_groups', 'tutor_id', 'true'),
    ].join(' UNION '),
  },
  'sessions of the left': {
    says: 'Who has left teaches no session ahead, and takes part in none.',
    broken: [
      named('(SELECT * FROM sessions s WHERE ' + AHEAD + ')', 'tutor_id', 'true'),
      named(
        `(SELECT p.* FROM lesson_participants p JOIN sessions s ON s.organization_id = p.organization_id AND s.id = p.session_id
          WHERE ${AHEAD})`,
        'student_id',
        `x.${TAKES_PART.sql}`,
      ),
    ].join(' UNION '),
  },
  'work of the left': {
    says: 'Nothing waits for who has left: no lead, no request for a lesson, no published profile.',
    broken: [
      named('leads', 'assigned_tutor_id', 'true'),
      named('booking_requests', 'student_id', `x.status = 'pending'`),
      named('tutor_profiles', 'user_id', 'x.is_published'),
    ].join(' UNION '),
  },
  'links of the left': {
    says: 'No open link leads to the account of who has left.',
    broken: ['members', 'parents']
      .map((who) =>
        named(
          'invites',
          'target_id',
          `x.scope = 'account' AND ${OPEN} AND (x.role = 'parent') = ${who === 'parents'}`,
          who as 'members' | 'parents',
        ),
      )
      .join(' UNION '),
  },
  'approvals that wait': {
    says: 'Who waits for an approval has not left, and asks to be what is waited for.',
    broken: `SELECT x.organization_id, x.user_id AS id FROM joins x
      JOIN invites i ON i.organization_id = x.organization_id AND i.id = x.invite_id
      WHERE x.approval = 'waiting' AND NOT CASE WHEN i.role = 'parent'
        THEN EXISTS (SELECT FROM parents p WHERE p.organization_id = x.organization_id AND p.user_id = x.user_id
          AND p.status <> 'archived')
          AND NOT EXISTS (SELECT FROM ${GONE('members')} AND g.organization_id = x.organization_id AND g.user_id = i.target_id)
        ELSE EXISTS (SELECT FROM members m WHERE m.organization_id = x.organization_id AND m.user_id = x.user_id
          AND m.status = 'pending' AND m.approval_requested_at IS NOT NULL) END`,
  },
  // Requests go with their invite, 30 days after it has expired.
  'members who wait': {
    says: 'A member who waits for an approval is pending, and came by an invite that somebody can decide about.',
    broken: `SELECT x.organization_id, x.user_id AS id FROM members x WHERE x.approval_requested_at IS NOT NULL
      AND x.readdressed_at IS NULL AND (x.status <> 'pending' OR (x.approval_requested_at > now() - interval '30 days' AND NOT EXISTS (
        SELECT FROM joins j WHERE j.organization_id = x.organization_id AND j.user_id = x.user_id AND j.approval = 'waiting')))`,
  },
  'what a code gives': {
    says: 'A parent who was not approved has no child by the code of that child.',
    broken: `SELECT x.organization_id, x.user_id AS id FROM joins x
      JOIN invites i ON i.organization_id = x.organization_id AND i.id = x.invite_id AND i.scope = 'parent'
      JOIN parent_students l ON l.organization_id = x.organization_id AND l.parent_id = x.user_id AND l.student_id = i.target_id
      JOIN parents p ON p.organization_id = x.organization_id AND p.user_id = x.user_id
      WHERE x.approval = 'waiting' AND l.linked_at >= x.joined_at AND p.status = 'pending'`,
  },
  // Who left and came back by another door does not take the place again.
  'places of a code': {
    says: 'A code lets in as many people as it has places.',
    broken: `SELECT x.organization_id, x.id FROM invites x WHERE x.places < (SELECT count(*) FROM joins j
      LEFT JOIN members m ON m.organization_id = j.organization_id AND m.user_id = j.user_id AND x.role <> 'parent'
      LEFT JOIN parents p ON p.organization_id = j.organization_id AND p.user_id = j.user_id AND x.role = 'parent'
      WHERE j.organization_id = x.organization_id AND j.invite_id = x.id AND coalesce(m.status, p.status) <> 'archived'
        AND coalesce(m.created_at, p.created_at) <= j.joined_at AND coalesce(m.frozen_at, p.frozen_at) IS NULL)`,
  },
  'codes of managers': {
    says: 'No code or open invite works that was made by somebody who does not manage the organization any more.',
    broken: `SELECT x.organization_id, x.id FROM invites x LEFT JOIN api_keys k ON k.id = x.api_key_id
      WHERE ${OPEN} AND x.scope <> 'account' AND x.held_at IS NULL AND coalesce(x.created_by, k.created_by) IS NOT NULL
        AND NOT ${manages('coalesce(x.created_by, k.created_by)')} AND NOT ${KEPT}`,
  },
  'codes that were read': {
    says: 'No stored code works that a manager could read who has left since.',
    broken: `SELECT x.organization_id, x.id FROM invites x WHERE ${OPEN} AND x.email IS NULL AND x.sealed IS NOT NULL
      AND EXISTS (SELECT FROM ${GONE('members')} AND g.organization_id = x.organization_id AND g.${MANAGES.sql}
        AND g.archived_at > x.created_at) AND NOT ${KEPT}`,
  },
  'one way in for each role': {
    says: 'An organization has one permanent code for each role, which opens it or is switched off.',
    broken: `SELECT x.organization_id, x.id FROM invites x WHERE x.standing AND (x.revoked_at IS NULL OR x.switched_off)
      AND EXISTS (SELECT FROM invites o WHERE o.organization_id = x.organization_id AND o.role = x.role AND o.standing
        AND o.id <> x.id AND (o.revoked_at IS NULL OR o.switched_off))`,
  },
  'address of an invite': {
    says: 'An open invite leads to the login that has its address, and one that was used proves nothing any more.',
    broken: `SELECT x.organization_id, x.id FROM invites x LEFT JOIN users u ON u.id = x.user_id
      WHERE (${OPEN} AND u.email_normalized <> lower(x.email)) OR (x.accepted_at IS NOT NULL AND x.proof_hash IS NOT NULL)`,
  },
  'students and parents': {
    says: 'Nobody is a student and a parent of the same organization.',
    broken: `SELECT m.organization_id, m.user_id AS id FROM members m
      JOIN parents p ON p.organization_id = m.organization_id AND p.user_id = m.user_id
      WHERE m.role = 'student' AND m.status <> 'archived' AND p.status <> 'archived'`,
  },
  'an owner stays': {
    says: 'An organization that had an owner has one.',
    broken: `SELECT DISTINCT g.organization_id, g.organization_id AS id FROM ${GONE('members')} AND g.role = 'owner'
      AND NOT EXISTS (SELECT FROM members o WHERE o.organization_id = g.organization_id AND o.role = 'owner' AND o.status <> 'archived')`,
  },
} satisfies Record<string, Invariant>;
