import { VALUES } from '@app/database';
import {
  byId, cents, instant, integer, like, list, nullable, oneOf, type RecordDeclaration, Source, text, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

/** What a series repeats. */
const patternView = new View('SeriesPattern', {
  id: uuid('r.id'),
  tutor_id: nullable(uuid('r.tutor_id')),
  subject_id: nullable(uuid('r.subject_id')),
  group_id: like(nullable(uuid('r.group_id')), null),
  classroom_id: like(nullable(uuid('r.classroom_id')), null),
  mode: nullable(oneOf('r.mode', VALUES.sessions.mode)),
  meeting_url: like(nullable(text('r.meeting_url', 'https://meet.example.org/mia-nguyen')), null),
  location_id: like(nullable(uuid('r.location_id')), null),
  starts_at: instant('r.starts_at'),
  last_starts_at: like(instant('r.last_starts_at'), '2026-07-03T09:30:00.000Z'),
  duration_minutes: like(integer('r.duration_minutes', { minimum: 1 }), 60),
  every_weeks: like(integer('r.every_weeks', { minimum: 1 }), 1),
  student_rate_cents: nullable(cents('r.student_rate_cents')),
  tutor_pay_rate_cents: like(nullable(cents('r.tutor_pay_rate_cents')), 5100),
  created_at: instant('r.created_at'),
  updated_at: instant('r.updated_at'),
});

const SERIES_SOURCE = new Source('session_series', 'r');

export const SERIES_LIST = list({
  id: 'list_session_series',
  path: 'v1/session-series',
  summary: 'Lists what repeats, newest first',
  description:
    'What each series repeats, from `starts_at` on; `last_starts_at` is the last of its times. A price is null if it follows the ' +
    'organization’s rates, a link if it is the tutor’s. `GET /v1/sessions` has the sessions, by their `series_id`.',
  view: patternView,
  source: SERIES_SOURCE,
  parameters: [byId('tutor_id', 'Only series of this tutor (user id).')],
});

export const SERIES: RecordDeclaration = {
  id: 'get_session_series',
  path: 'v1/session-series/:series_id',
  summary: 'Returns what a series repeats',
  source: SERIES_SOURCE,
  view: patternView,
};
