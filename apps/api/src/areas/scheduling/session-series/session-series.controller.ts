import { Database } from '@app/database';
import { Series } from '@app/scheduling';
import { JsonText, many, one, writeController } from '../../../http/kit.js';
import { wantedBy } from '../booking.dto.js';
import { sessionsJson, sessionView } from '../session.view.js';
import { CancelSeries, CreateSeries, repeatedBy } from './session-series.dto.js';
import { seriesShape } from './session-series.view.js';

export const SESSION_SERIES_CONTROLLERS = [
  writeController({
    id: 'create_session_series',
    route: 'POST /v1/session-series',
    scope: 'sessions:write',
    summary: 'Books a session that repeats every one to four weeks',
    description:
      'Takes the fields of a session, and repeats it at the same time of the organization’s clocks, also when these ' +
      'change. If the tutor has another session at one of the times, nothing is booked (409), unless `skip_conflicts` ' +
      'leaves those out.',
    example: {
      tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      starts_at: '2027-02-02T05:00:00Z',
      duration_minutes: 60,
      every_weeks: 1,
      count: 10,
    },
    conflicts: ['invalid_state', 'session_overlap'],
    body: CreateSeries,
    rules: [Series, Database],
    answers: { ...one(seriesShape), shapes: [sessionView, seriesShape] },
    async run({ organizationId, caller, body }, series, db) {
      const { wanted, time } = wantedBy(body);
      const booked = await series.book(organizationId, wanted, time, repeatedBy(body), body.skip_conflicts);
      const { seriesId: series_id, ids: session_ids } = booked;
      const skipped = booked.skipped.map(({ startsAt, endsAt, sessionId }) => ({
        starts_at: startsAt.toISOString(),
        ends_at: endsAt.toISOString(),
        session_id: sessionId,
      }));
      const data = await sessionsJson(db, caller, session_ids);
      const text = `{"series_id":"${series_id}","data":${data},"skipped":${JSON.stringify(skipped)}}`;
      return { audit: { series_id, session_ids }, answer: new JsonText(text) };
    },
  }),
  writeController({
    id: 'cancel_session_series',
    route: 'POST /v1/session-series/:series_id/cancel',
    status: 200,
    scope: 'sessions:write',
    summary: 'Cancels the rest of a series',
    description: 'Returns the sessions that are cancelled from then on. Completed ones stay. Again: unchanged.',
    example: { from: '2027-03-01' },
    body: CancelSeries,
    rules: [Series, Database],
    answers: many(sessionView),
    async run({ organizationId, caller, ids: { series_id }, body }, series, db) {
      const { ids, cancelled } = await series.cancel(organizationId, series_id, body.from ?? null);
      const data = JSON.parse(await sessionsJson(db, caller, ids)) as unknown;
      return { changed: cancelled.length > 0, audit: { session_ids: cancelled }, answer: { data } };
    },
  }),
];
