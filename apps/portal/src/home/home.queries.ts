import sql, { type Sql } from 'sql-template-tag';
import { KEY_IS } from '@app/access';
import { TAKES_PART } from '@app/database';
import { shownName } from '@app/people';
import { isDue } from '../lessons/lessons.queries.js';
import { MAIL_KINDS } from '../outbox/mail-kinds.js';
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
  students: { id: string; name: string }[];
}

/** What waits for owners and admins, each counted up to a maximum. */
export type NeedsRow = Record<
  | 'waiting'
  | 'enquiries'
  | 'requests'
  | 'messages'
  | 'claims'
  | 'not_completed'
  | 'without_tutor'
  | 'dead_mails'
  | 'expiring_keys'
  | 'unused_keys'
  | 'ending_invites',
  number
>;

/** What an organization that begins has done. */
export type FirstStepsRow = Record<'prices' | 'tutors' | 'students' | 'lessons' | 'invoices', boolean>;

/** What the sessions of a day are, without cancelled ones. */
export interface DayRow {
  sessions: number;
  completed: number;
  students: number;
}

/** The sessions that begin between two instants, in their order. */
export function sessionsBetween(organizationId: string, from: Date, to: Date, most: number): Sql {
  return sql`
    SELECT s.id, s.title, s.status, s.starts_at, s.ends_at, s.tutor_id,
      (SELECT ${shownName('m')} FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = s.organization_id AND m.user_id = s.tutor_id) AS tutor,
      ARRAY(SELECT jsonb_build_object('id', p.student_id, 'name', ${shownName('m')}) FROM lesson_participants p
        JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
        LEFT JOIN users u ON u.id = m.user_id
        WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND p.${TAKES_PART}
        ORDER BY p.created_at, p.student_id LIMIT 4) AS students
    FROM sessions s WHERE s.organization_id = ${organizationId} AND s.status <> 'cancelled'
      AND s.starts_at BETWEEN ${from.toISOString()} AND ${to.toISOString()}
    ORDER BY s.starts_at, s.id LIMIT ${most}`;
}

/** The sessions that begin between two instants, and how many students take part in them. */
export function dayInFigures(organizationId: string, from: Date, to: Date): Sql {
  return sql`
    WITH today AS MATERIALIZED (SELECT s.id, s.status FROM sessions s WHERE s.organization_id = ${organizationId}
      AND s.status <> 'cancelled' AND s.starts_at BETWEEN ${from.toISOString()} AND ${to.toISOString()})
    SELECT count(*)::integer AS sessions, (count(*) FILTER (WHERE status = 'completed'))::integer AS completed,
      (SELECT count(DISTINCT p.student_id)::integer FROM today t JOIN lesson_participants p ON p.session_id = t.id
        WHERE p.organization_id = ${organizationId} AND p.${TAKES_PART}) AS students
    FROM today`;
}

export const firstSteps = (organizationId: string): Sql => sql`
  SELECT EXISTS (SELECT FROM rate_cells WHERE organization_id = ${organizationId}) AS prices,
    EXISTS (SELECT FROM members WHERE organization_id = ${organizationId} AND role = 'tutor') AS tutors,
    EXISTS (SELECT FROM members WHERE organization_id = ${organizationId} AND role = 'student') AS students,
    EXISTS (SELECT FROM sessions WHERE organization_id = ${organizationId}) AS lessons,
    EXISTS (SELECT FROM invoices WHERE organization_id = ${organizationId} AND status <> 'draft') AS invoices`;

export function needs(organizationId: string, most: number): Sql {
  const count = (rows: Sql) => sql`(SELECT count(*)::integer FROM (SELECT FROM ${rows} LIMIT ${most}) n)`;
  return sql`
    SELECT ${count(sql`(SELECT user_id FROM members WHERE organization_id = ${organizationId} AND approval_requested_at IS NOT NULL
        UNION ALL (${waitingParents(organizationId)})) w`)} AS waiting,
      ${count(sql`leads WHERE organization_id = ${organizationId} AND status = 'new'`)} AS enquiries,
      ${count(sql`booking_requests WHERE organization_id = ${organizationId} AND status = 'pending'`)} AS requests,
      ${count(sql`inbox_messages WHERE organization_id = ${organizationId} AND status = 'unread'`)} AS messages,
      ${count(sql`(SELECT FROM mileage_trips WHERE organization_id = ${organizationId} AND status = 'logged'
        UNION ALL SELECT FROM expense_claims WHERE organization_id = ${organizationId} AND status = 'logged') c`)} AS claims,
      ${count(sql`sessions WHERE ${isDue(organizationId)}`)} AS not_completed,
      ${count(sql`sessions WHERE organization_id = ${organizationId} AND tutor_id IS NULL
        AND status IN ('pending', 'scheduled') AND starts_at > now()`)} AS without_tutor,
      ${count(sql`outbox WHERE organization_id = ${organizationId} AND topic = 'email' AND status = 'dead'
        AND kind = ANY (${Object.keys(MAIL_KINDS)})`)} AS dead_mails,
      ${count(sql`api_keys k WHERE k.organization_id = ${organizationId} AND ${KEY_IS.expiring}`)} AS expiring_keys,
      ${count(sql`api_keys k WHERE k.organization_id = ${organizationId} AND ${KEY_IS.unused}`)} AS unused_keys,
      ${count(sql`invites WHERE organization_id = ${organizationId} AND accepted_at IS NULL AND revoked_at IS NULL
        AND scope <> 'account' AND expires_at > now() AND expires_at <= now() + interval '3 days'`)} AS ending_invites`;
}
