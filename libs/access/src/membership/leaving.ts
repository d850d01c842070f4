import { TAKES_PART } from '@app/database';

/**
 * What becomes of a row that names somebody who leaves.
 *
 * - `ends`: what is still open of it ends with the membership. `open` is the condition of such rows. `by` is the statement
 *   that ends them, without its WHERE; without one, a rule of its own does.
 * - `handed_over`: rows that are `open` go to somebody else, or to nobody
 * - `frozen`: it shows what was known when they left
 * - `stays`: nothing changes
 */
export type Leaving =
  | { becomes: 'ends' | 'handed_over'; open: string; by?: string; why: string }
  | { becomes: 'frozen' | 'stays'; why: string };

/** @param open the condition of rows that have not ended yet */
const ends = (why: string, open: string, by?: string): Leaving => ({
  becomes: 'ends',
  open,
  why,
  ...(by !== undefined && { by }),
});
const handedOver = (why: string, open: string): Leaving => ({ becomes: 'handed_over', open, why });
const stays = (why: string): Leaving => ({ becomes: 'stays', why });
const frozen = (why: string): Leaving => ({ becomes: 'frozen', why });

const DONE = 'what was done stays as it was';
const BOOKS = 'the books keep it, and what is open is still settled';
const OWN = 'it belongs to the person, wherever they are';
const HISTORY = 'who did it is history';
const WRITTEN = 'what was written stays with those who received it';
const AGAIN = 'harmless without the membership, and there again if they come back';
const AHEAD = `status IN ('pending', 'scheduled') AND starts_at > now()`;
const OPEN_INVITE = 'accepted_at IS NULL AND revoked_at IS NULL';

/**
 * For each foreign key to a person or an API key, as `table.column`, what becomes of the rows that name somebody who
 * leaves. A test compares it with the schema, and another one with what a departure leaves.
 */
export const LEAVING = {
  'account_deletions.user_id': stays(OWN),
  'adjustments.tutor_id': stays(BOOKS),
  'api_key_handovers.api_key_id': stays('it shows a key that no longer works'),
  'api_keys.created_by': ends(
    'keys do not outlive the rights of whoever made them',
    'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())',
    'UPDATE api_keys SET revoked_at = now()',
  ),
  'api_keys.replaced_by': stays(HISTORY),
  'audit_log.api_key_id': stays(HISTORY),
  'audit_log.user_id': stays(HISTORY),
  'availabilities.tutor_id': stays(AGAIN),
  'booking_requests.student_id': ends(
    'nobody waits for the lesson any more',
    `status = 'pending'`,
    `UPDATE booking_requests SET status = 'expired', updated_at = now()`,
  ),
  'calendar_feeds.user_id': ends('an address shows nothing to who has left: see end_calendar_feeds', 'true'),
  'classroom_members.user_id': ends('a place is given up', 'true', 'DELETE FROM classroom_members'),
  'classrooms.tutor_id': handedOver('the classroom goes on', 'true'),
  'conversation_participants.user_id': ends('they read nothing further', 'left_at IS NULL'),
  'credentials.user_id': stays(OWN),
  'device_cookies.user_id': stays(OWN),
  'erasures.person_id': stays('only who has left is erased'),
  'expense_claims.tutor_id': stays(BOOKS),
  'exports.api_key_id': stays(HISTORY),
  'exports.confirmed_by': stays(HISTORY),
  'exports.created_by': stays(HISTORY),
  'files.owner_id': stays(DONE),
  'files.student_id': stays(DONE),
  'holds.user_id': stays('it is for those who have left'),
  'homework.assigned_by': stays(DONE),
  'homework.student_id': stays(DONE),
  'inbox_messages.from_user_id': stays(WRITTEN),
  'inbox_messages.subject_tutor_id': stays(WRITTEN),
  'invites.api_key_id': ends('see invites.created_by', `${OPEN_INVITE} AND held_at IS NULL`),
  'invites.created_by': ends(
    'a code is replaced, and an invite waits for an owner',
    `${OPEN_INVITE} AND held_at IS NULL`,
  ),
  'invites.user_id': ends('they come back by a new one', OPEN_INVITE),
  'invoices.billed_parent_id': stays(BOOKS),
  'invoices.student_id': stays(BOOKS),
  'invoices.tutor_id': stays(BOOKS),
  'joins.user_id': ends('nobody approves who has left', `approval = 'waiting'`),
  'leads.assigned_tutor_id': ends(
    'somebody who is there has to answer',
    'true',
    'UPDATE leads SET assigned_tutor_id = NULL, updated_at = now()',
  ),
  'lesson_participants.student_id': ends(
    'they take part in nothing that is ahead',
    `${TAKES_PART.sql} AND EXISTS (SELECT FROM sessions s
      WHERE s.id = session_id AND s.status IN ('pending', 'scheduled') AND s.starts_at > now())`,
  ),
  'lesson_plans.created_by': stays(DONE),
  'lesson_plans.student_id': stays(DONE),
  'locations.student_id': stays('lessons were held there'),
  'locations.tutor_id': stays('lessons were held there'),
  'members.user_id': frozen('the membership is archived: what it shows is of the day they left'),
  'messages.sender_id': stays(WRITTEN),
  'mileage_trips.tutor_id': stays(BOOKS),
  'parent_students.parent_id': ends('they see nothing of the child any more', 'true', 'DELETE FROM parent_students'),
  'parent_students.student_id': stays('parents pay what is still open'),
  'parents.user_id': frozen('the parent is archived: what it shows is of the day they left'),
  'passkeys.user_id': stays(OWN),
  'password_links.user_id': stays(OWN),
  'payments.parent_id': stays(BOOKS),
  'payments.student_id': stays(BOOKS),
  'payments.tutor_id': stays(BOOKS),
  'payouts.tutor_id': stays(BOOKS),
  'portal_sessions.user_id': stays(OWN),
  'questions.author_id': stays(DONE),
  'refusals.api_key_id': stays(HISTORY),
  'removed_sessions.user_id': stays('what calendars are told, for 30 days'),
  'results.student_id': stays(OWN),
  'session_feedback.reviewer_id': stays(DONE),
  'session_feedback.tutor_id': stays(DONE),
  'session_students.student_id': stays('a copy, which follows the participants'),
  'session_series.tutor_id': handedOver('whoever takes over its lessons, or nobody yet', 'true'),
  'sessions.student_id': ends('a session that nobody takes part in is cancelled', AHEAD),
  'sessions.tutor_id': handedOver('somebody else teaches what is ahead, or nobody yet', AHEAD),
  'student_group_members.user_id': ends('a place is given up', 'true'),
  'student_groups.tutor_id': handedOver('the group goes on', 'true'),
  'time_off.tutor_id': stays(AGAIN),
  'tutor_profiles.user_id': ends(
    'somebody who is gone is not on the site',
    'is_published',
    'UPDATE tutor_profiles SET is_published = false',
  ),
  'tutor_students.student_id': ends(
    'a relation is kept as archived',
    `status = 'active'`,
    `UPDATE tutor_students SET status = 'archived', archived_at = now()`,
  ),
  'tutor_students.tutor_id': ends(
    'a relation is kept as archived',
    `status = 'active'`,
    `UPDATE tutor_students SET status = 'archived', archived_at = now()`,
  ),
  'tutor_subjects.user_id': stays(AGAIN),
  'webhook_endpoints.api_key_id': ends('see webhook_endpoints.created_by', 'disabled_at IS NULL'),
  'webhook_endpoints.created_by': ends(
    'it sends events on until an owner confirms it',
    'disabled_at IS NULL',
    `UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'maker_left', updated_at = now()`,
  ),
} satisfies Record<string, Leaving>;

/** The statements that end rows of somebody, with their tables. */
export const ENDING = Object.entries<Leaving>(LEAVING).flatMap(([name, { becomes, ...leaving }]) => {
  const [table, column] = name.split('.') as [string, string];
  if (!('by' in leaving) || becomes === 'stays') return [];
  const as: 'parent' | 'member' = column === 'parent_id' ? 'parent' : 'member';
  return [{ table, column, as, open: leaving.open, by: leaving.by! }];
});
