import sql from 'sql-template-tag';
import { type Database, payRate, VALUES } from '@app/database';
import {
  type Caller,
  cents,
  flag,
  instant,
  integer,
  like,
  nullable,
  oneOf,
  Source,
  text,
  uuid,
  View,
} from '../../http/kit.js';

export const sessionView = new View('Session', {
  id: uuid('s.id'),
  status: like(nullable(oneOf('s.status', VALUES.sessions.status)), 'completed'),
  title: nullable(text('s.title', 'Methods, unit 3')),
  tutor_id: nullable(uuid('s.tutor_id')),
  student_id: nullable(uuid('s.student_id')),
  starts_at: nullable(instant('s.starts_at')),
  ends_at: like(nullable(instant('s.ends_at')), '2026-05-01T10:30:00.000Z'),
  duration_minutes: like(nullable(integer('s.duration_minutes', { minimum: 1 })), 60),
  tutor_pay_rate_cents: like(nullable(cents(payRate('s'))), 5100),
  student_rate_cents: nullable(cents('s.student_rate_cents')),
  amount_owed_cents: nullable(cents('s.amount_owed_cents')),
  mode: nullable(oneOf('s.mode', VALUES.sessions.mode)),
  subject_id: nullable(uuid('s.subject_id')),
  created_at: like(nullable(instant('s.created_at')), '2026-04-17T01:20:00.000Z'),
  completed_at: like(nullable(instant('s.completed_at')), '2026-05-01T10:30:00.000Z'),
  series_id: nullable(uuid('s.series_id')),
  series_detached: like(nullable(flag('s.series_detached')), false),
  group_id: nullable(uuid('s.group_id')),
  classroom_id: nullable(uuid('s.classroom_id')),
  tutor_pay_cents: like(nullable(cents('s.tutor_pay_cents')), 5100),
  meeting_url: nullable(text('s.meeting_url', 'https://meet.example.org/mia-nguyen')),
  location_id: like(nullable(uuid('s.location_id')), null),
});

export const SESSIONS = new Source('sessions', 's');

/** Sessions as JSON, in the order of time, as the ambient transaction leaves them. */
export async function sessionsJson(db: Database, caller: Caller, ids: string[]): Promise<string> {
  const rows = await db.query<{ data: string }>(sql`
    SELECT ${sessionView.json} AS data FROM ${SESSIONS.all}
    WHERE ${SESSIONS.sightOf(caller)} AND s.id = ANY (${ids}::uuid[]) ORDER BY s.starts_at, s.id`);
  return `[${rows.map(({ data }) => data).join(',')}]`;
}
