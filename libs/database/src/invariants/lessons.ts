import { IS_STAFF } from '../schema/rules.js';
import { TAKES_PART } from '../schema/scheduling.js';
import type { Invariant } from './invariant.js';

export const LESSONS = {
  'tutor booked once': {
    says: 'No tutor teaches two sessions at the same time, unless somebody allowed it.',
    broken: `SELECT s.organization_id, s.id FROM sessions s JOIN sessions o ON o.organization_id = s.organization_id
        AND o.tutor_id = s.tutor_id AND o.id > s.id AND o.starts_at < s.ends_at AND s.starts_at < o.ends_at
        AND o.starts_at > s.starts_at - interval '1 day'
      WHERE NOT s.overlap_allowed AND NOT o.overlap_allowed AND s.status <> 'cancelled' AND o.status <> 'cancelled'`,
  },
  'tutor of a session': {
    says: 'A session that is scheduled or completed has a tutor, who is staff.',
    broken: `SELECT s.organization_id, s.id FROM sessions s WHERE s.status IN ('scheduled', 'completed')
      AND NOT EXISTS (SELECT FROM members m WHERE m.organization_id = s.organization_id AND m.user_id = s.tutor_id
        AND ${IS_STAFF.sql})`,
  },
  'places of students': {
    says: 'Whoever has a place in a session is a student of the organization.',
    broken: `SELECT p.organization_id, p.id FROM lesson_participants p
      WHERE NOT EXISTS (SELECT FROM members m WHERE m.organization_id = p.organization_id AND m.user_id = p.student_id
        AND m.role = 'student')
      OR NOT EXISTS (SELECT FROM sessions s WHERE s.organization_id = p.organization_id AND s.id = p.session_id)`,
  },
  'the only student': {
    says: 'A session that names its only student has no other one.',
    broken: `SELECT s.organization_id, s.id FROM sessions s WHERE EXISTS (SELECT FROM lesson_participants p
      WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND p.student_id <> s.student_id AND ${TAKES_PART.sql})`,
  },
  'completed when over': {
    says: 'No session is completed before it begins, and only a cancelled one has been cancelled.',
    broken: `SELECT s.organization_id, s.id FROM sessions s WHERE (s.status = 'completed' AND s.starts_at > now())
      OR (s.completed_at IS NOT NULL AND s.status <> 'completed') OR (s.cancelled_at IS NOT NULL AND s.status <> 'cancelled')`,
  },
  'places in a cancelled session': {
    says: 'Nobody takes part in a session that is cancelled.',
    broken: `SELECT s.organization_id, s.id FROM sessions s WHERE s.status = 'cancelled' AND EXISTS (
      SELECT FROM lesson_participants p WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND ${TAKES_PART.sql})`,
  },
  'sessions of a student': {
    says: 'It is known in how many sessions each student is.',
    broken: `SELECT organization_id, student_id AS id FROM (
      SELECT organization_id, student_id, occurrences FROM session_students
      UNION ALL SELECT organization_id, student_id, -1 FROM sessions WHERE student_id IS NOT NULL
      UNION ALL SELECT organization_id, student_id, -1 FROM lesson_participants) n GROUP BY 1, 2 HAVING sum(occurrences) <> 0`,
  },
} satisfies Record<string, Invariant>;
