import { VALUES } from '@app/database';
import {
  byId, byValue, cents, instant, like, list, nullable, oneOf, type RecordDeclaration, Source, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const { status, attendance } = VALUES.lesson_participants;

export const PARTICIPANTS = list({
  id: 'list_lesson_participants',
  path: 'v1/lesson-participants',
  summary: 'Lists who takes part in sessions, newest first',
  description: 'Every student of a session, also the only one, with the price of an hour and their attendance.',
  view: new View('LessonParticipant', {
    id: uuid('p.id'),
    session_id: nullable(uuid('p.session_id')),
    student_id: nullable(uuid('p.student_id')),
    status: like(nullable(oneOf('p.status', status)), 'accepted'),
    attendance: nullable(oneOf('p.attendance', attendance)),
    cancelled_at: like(nullable(instant('p.cancelled_at')), null),
    invited_at: like(nullable(instant('p.invited_at')), '2026-04-17T01:20:00.000Z'),
    responded_at: like(nullable(instant('p.responded_at')), '2026-04-17T02:05:00.000Z'),
    created_at: like(nullable(instant('p.created_at')), '2026-04-17T01:20:00.000Z'),
    rate_cents: nullable(cents('p.rate_cents')),
  }),
  source: new Source('lesson_participants', 'p'),
  parameters: [
    byId('session_id', 'Only participants of this session.'),
    byId('student_id', 'Only this student.'),
    byValue('status', status, 'Only participants with this status.'),
    byValue('attendance', attendance, 'Only participants with this attendance.'),
  ],
});

export const PARTICIPANT: RecordDeclaration = {
  id: 'get_lesson_participant',
  path: 'v1/lesson-participants/:participant_id',
  summary: 'Returns one participant of a session',
  view: PARTICIPANTS.view,
  source: PARTICIPANTS.source,
};
