import sql, { raw } from 'sql-template-tag';
import { VALUES } from '@app/database';
import { between, byId, byValue, kinds, list, parameter, type RecordDeclaration } from '../../../http/kit.js';
import { SESSIONS, sessionView } from '../session.view.js';

export const SESSION_LIST = list({
  id: 'list_sessions',
  path: 'v1/sessions',
  summary: 'Lists the organization’s sessions, newest first',
  description: 'The order is that of their creation; `from` and `to` compare the start.',
  view: sessionView,
  source: SESSIONS,
  parameters: [
    byValue('status', VALUES.sessions.status, 'Only sessions with this status.'),
    byId('tutor_id', 'Only sessions of this tutor.'),
    parameter('student_id', kinds.uuid, 'Only sessions in which this student takes part.', {
      // Their ids first: EXISTS may be planned as a loop over all lessons of the student, for each lesson of a tutor.
      where: (
        id,
        alias,
        { organizationId },
      ) => sql`${raw(alias)}.id = ANY (ARRAY(SELECT p.session_id FROM lesson_participants p
        WHERE p.organization_id = ${organizationId} AND p.student_id = ${id} AND p.status <> 'removed'))`,
    }),
    ...between('starts_at', {
      from: 'Only sessions that start at or after this date or time.',
      to: 'Only sessions that start at or before this date or time.',
    }),
  ],
});

export const SESSION: RecordDeclaration = {
  id: 'get_session',
  path: 'v1/sessions/:session_id',
  summary: 'Returns one session',
  source: SESSIONS,
  view: sessionView,
};
