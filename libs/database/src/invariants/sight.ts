import {
  CONVERSATION_COLUMNS,
  listed,
  ownResult,
  RESULT_COPY,
  seenConversations,
  teachingOf,
} from '../schema/copies.js';
import type { Invariant } from './invariant.js';

/** Rows that are in one of two selections only. */
const differ = (one: string, other: string) => `SELECT DISTINCT organization_id, id FROM (
    (SELECT * FROM (${one}) a EXCEPT ALL SELECT * FROM (${other}) b)
    UNION ALL (SELECT * FROM (${other}) c EXCEPT ALL SELECT * FROM (${one}) d)) n`;

const ACCEPTED = `SELECT organization_id, user_id AS id FROM members WHERE accepted_at IS NOT NULL
  UNION SELECT organization_id, user_id FROM parents WHERE accepted_at IS NOT NULL`;

/** What an organization sees of people, and the copies that lists read. */
export const SIGHT = {
  acceptance: {
    says: 'A login is shown to an organization exactly while its person belongs to it.',
    broken: `SELECT organization_id, user_id AS id FROM (
      SELECT organization_id, user_id, status, accepted_at, frozen_at FROM members
      UNION ALL SELECT organization_id, user_id, status, accepted_at, frozen_at FROM parents) t
      WHERE (status = 'accepted') <> (accepted_at IS NOT NULL) OR (accepted_at IS NOT NULL AND frozen_at IS NOT NULL)`,
  },
  'logins that are seen': {
    says: 'A login lists the organizations that its person has accepted.',
    broken: differ(`SELECT unnest(seen_by) AS organization_id, id FROM users`, ACCEPTED),
  },
  'results that are seen': {
    says: 'An organization sees the results of its students, and of those who have left what they had done by then.',
    broken: `SELECT DISTINCT organization_id, id FROM (${differ(
      `SELECT organization_id, result_id AS id, ${listed(RESULT_COPY)} FROM organization_results`,
      `SELECT s.organization_id, r.id, ${listed(RESULT_COPY, 'r')} FROM session_students s
        JOIN results r ON r.student_id = s.student_id
        JOIN members m ON m.organization_id = s.organization_id AND m.user_id = r.student_id
        WHERE m.accepted_at IS NOT NULL OR (m.frozen_at IS NOT NULL AND ${ownResult('s.organization_id', 'r.id')})`,
    )}) n WHERE NOT EXISTS (SELECT FROM organization_results o
      JOIN members k ON k.organization_id = o.organization_id AND k.user_id = o.student_id
      WHERE o.organization_id = n.organization_id AND o.result_id = n.id AND k.accepted_at IS NULL AND o.completed_at <= k.frozen_at)`,
  },
  'conversations that are seen': {
    says: 'An organization sees the conversations of its members, with those who take part.',
    broken: differ(
      `SELECT organization_id, conversation_id AS id, ${listed(CONVERSATION_COLUMNS)}, participants::text
        FROM organization_conversations`,
      `SELECT organization_id, id, ${listed(CONVERSATION_COLUMNS)}, participants::text FROM (${seenConversations(
        `SELECT DISTINCT m.organization_id, p.conversation_id AS id FROM conversation_participants p
          JOIN members m ON m.user_id = p.user_id WHERE p.left_at IS NULL AND m.status = 'accepted'`,
      )}) c`,
    ),
  },
  'last message': {
    says: 'A conversation is as new as its last message that everybody may read.',
    broken: `SELECT o.organization_id, c.id FROM organization_conversations o JOIN conversations c ON c.id = o.conversation_id
      WHERE c.last_message_at IS DISTINCT FROM (SELECT max(m.created_at) FROM messages m
        WHERE m.conversation_id = c.id AND m.visibility = 'everyone' AND m.deleted_at IS NULL)`,
  },
  replies: {
    says: 'A reply is in the conversation of what it answers.',
    broken: `SELECT m.organization_id, m.id FROM messages m
      JOIN messages r ON r.organization_id = m.organization_id AND r.id = m.reply_to_id
      WHERE r.conversation_id <> m.conversation_id`,
  },
  enrolment: {
    says: 'A parent is listed exactly while a child is linked to them.',
    broken: `SELECT p.organization_id, p.user_id AS id FROM parents p WHERE (p.enrolled_at IS NOT NULL) <> EXISTS (
      SELECT FROM parent_students l WHERE l.organization_id = p.organization_id AND l.parent_id = p.user_id)`,
  },
  'published profiles': {
    says: 'The list of staff knows whose profile is published, and how they teach.',
    broken: `SELECT m.organization_id, m.user_id AS id FROM members m
      LEFT JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
      WHERE (m.profile_published, m.teaching) IS DISTINCT FROM (coalesce(t.is_published, false), CASE WHEN t.user_id IS NOT NULL THEN ${teachingOf('t')} END)`,
  },
  'groups that are seen': {
    says: 'A group is seen by the organization that owns it, or by the only one of its tutor.',
    broken: `SELECT organization_id, id FROM (SELECT g.id, coalesce(g.organization_id, g.owner_organization_id, t.only) AS organization_id
        FROM student_groups g LEFT JOIN LATERAL (SELECT only_organization_of(g.tutor_id) AS only) t ON true
        WHERE g.organization_id IS DISTINCT FROM coalesce(g.owner_organization_id, t.only)) n`,
  },
  'totals of lists': {
    says: 'The total of a list is the number of its rows.',
    broken: `SELECT organization_id, list AS id FROM wrong_list_counts(NULL)`,
  },
} satisfies Record<string, Invariant>;

/** What lists read of what is stored elsewhere, and the invariant of each copy: `recount` corrects those that break it. */
export const COPIED = {
  'users.seen_by': 'logins that are seen',
  organization_results: 'results that are seen',
  organization_conversations: 'conversations that are seen',
} as const;
