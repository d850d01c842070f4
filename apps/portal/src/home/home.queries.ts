import sql, { raw, type Sql } from 'sql-template-tag';
import { visiblePerson } from '@app/people';
import { waitingParents } from '../people/people.queries.js';

/** A session of the day, with the names that the organization may see. */
export interface SessionRow {
  id: string;
  title: string | null;
  status: 'pending' | 'scheduled' | 'completed';
  starts_at: Date;
  ends_at: Date;
  tutor_id: string | null;
  tutor: string | null;
  students: string[];
}

export type OpenSessionRow = Pick<SessionRow, 'id' | 'title' | 'starts_at'>;

/** What waits for somebody, counted up to a maximum. */
export interface WaitingRow {
  people: number;
  without_tutor: number;
  dead_mails: number;
}

/** The sessions that begin between two instants, in their order. */
export function sessionsBetween(organizationId: string, from: Date, to: Date, most: number): Sql {
  const name = (alias: string) => raw(visiblePerson(alias).full_name);
  return sql`
    SELECT s.id, s.title, s.status, s.starts_at, s.ends_at, s.tutor_id,
      (SELECT ${name('m')} FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = s.organization_id AND m.user_id = s.tutor_id) AS tutor,
      ARRAY(SELECT ${name('m')} FROM lesson_participants p
        JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
        LEFT JOIN users u ON u.id = m.user_id
        WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND p.status IN ('pending', 'accepted')
        ORDER BY p.created_at, p.student_id LIMIT 4) AS students
    FROM sessions s WHERE s.organization_id = ${organizationId} AND s.status <> 'cancelled'
      AND s.starts_at BETWEEN ${from.toISOString()} AND ${to.toISOString()}
    ORDER BY s.starts_at, s.id LIMIT ${most}`;
}

/** The sessions ahead that nobody teaches yet, soonest first. */
export function sessionsWithoutTutor(organizationId: string, most: number): Sql {
  return sql`
    SELECT s.id, s.title, s.starts_at FROM sessions s WHERE s.organization_id = ${organizationId} AND s.tutor_id IS NULL
      AND s.status IN ('pending', 'scheduled') AND s.starts_at > now() ORDER BY s.starts_at, s.id LIMIT ${most}`;
}

export function waiting(organizationId: string, most: number): Sql {
  return sql`
    SELECT (SELECT count(*)::integer FROM (SELECT user_id FROM members WHERE organization_id = ${organizationId}
        AND approval_requested_at IS NOT NULL
        UNION ALL (${waitingParents(organizationId)}) LIMIT ${most}) w) AS people,
      (SELECT count(*)::integer FROM (SELECT FROM sessions WHERE organization_id = ${organizationId} AND tutor_id IS NULL
        AND status IN ('pending', 'scheduled') AND starts_at > now() LIMIT ${most}) s) AS without_tutor,
      (SELECT count(*)::integer FROM (SELECT FROM outbox WHERE organization_id = ${organizationId} AND topic = 'email'
        AND status = 'dead' LIMIT ${most}) o) AS dead_mails`;
}
