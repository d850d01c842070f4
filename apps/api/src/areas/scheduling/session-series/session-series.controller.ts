import { Database } from '@app/database';
import { type Booked, Series, SeriesChanges } from '@app/scheduling';
import {
  type Caller, JsonText, listController, many, one, recordController, writeController,
} from '../../../http/kit.js'; // prettier-ignore
import { wantedBy } from '../booking.dto.js';
import { sessionsJson, sessionView } from '../session.view.js';
import {
  CancelSeries, CreateSeries, extentBy, ExtendSeries, repeatedBy, seriesChangeBy, UpdateSeries,
} from './session-series.dto.js'; // prettier-ignore
import { SERIES, SERIES_LIST } from './session-series.queries.js';
import { changedSeriesShape, seriesShape } from './session-series.view.js';

export const SESSION_SERIES_CONTROLLERS = [
  listController(SERIES_LIST),
  recordController(SERIES),
  writeController({
    id: 'update_session_series',
    route: 'PATCH /v1/session-series/:series_id',
    scope: 'sessions:write',
    summary: 'Changes the rest of a series',
    description:
      'The sessions that are ahead of `from`, but for those that were changed by hand, which `detached` lists, and what ' +
      '`extend` books. A new `starts_at` is that of the first of them; the others take place as many days later as before, at ' +
      'the same time of the organization’s clocks. If the tutor has another session at one of the new times, nothing changes ' +
      '(409 with all `clashes`), unless `skip_conflicts` leaves those sessions as they are, which makes them detached.',
    example: { from: '2027-03-01', starts_at: '2027-03-02T06:00:00Z', duration_minutes: 90 },
    conflicts: ['invalid_state', 'session_overlap'],
    body: UpdateSeries,
    rules: [SeriesChanges, Database],
    answers: { ...one(changedSeriesShape), shapes: [sessionView, changedSeriesShape] },
    versions: SERIES,
    first: ({ organizationId, ids }, changes, _) => changes.lock(organizationId, ids.series_id),
    async run({ organizationId, caller, ids: { series_id }, body }, changes, db) {
      const { from = null, skip_conflicts: skip } = body;
      const done = await changes.change(organizationId, series_id, from, seriesChangeBy(body), skip);
      const skipped = done.skipped.map(({ id, startsAt, endsAt, inTheWay }) => ({
        ...{ session_id: id, starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString(), in_the_way: inTheWay },
      }));
      const data = await sessionsJson(db, caller, done.ids);
      const text = `{"series_id":"${series_id}","data":${data},"skipped":${JSON.stringify(skipped)},"detached":${JSON.stringify(done.detached)}}`;
      return { changed: done.changed, audit: { session_ids: done.ids }, answer: new JsonText(text) };
    },
  }),
  writeController({
    id: 'extend_session_series',
    route: 'POST /v1/session-series/:series_id/extend',
    scope: 'sessions:write',
    summary: 'Books further sessions of a series',
    description:
      'After the last of its times, as its pattern says: with the students of its group or classroom, or else those of its last ' +
      'session. If the tutor has another session at one of the times, nothing is booked (409), unless `skip_conflicts` leaves ' +
      'those out. Without a tutor or students: 409.',
    example: { count: 10 },
    conflicts: ['invalid_state', 'session_overlap'],
    body: ExtendSeries,
    rules: [Series, Database],
    answers: { ...one(seriesShape), shapes: [sessionView, seriesShape], copied: true },
    versions: SERIES,
    first: ({ organizationId, ids }, series, _) => series.lock(organizationId, ids.series_id),
    async run({ organizationId, caller, ids: { series_id }, body }, series, db) {
      const booked = await series.extend(organizationId, series_id, extentBy(body), body.skip_conflicts);
      return { audit: { session_ids: booked.ids }, answer: await bookedJson(db, caller, series_id, booked) };
    },
  }),
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
      return { audit: { series_id, session_ids }, answer: await bookedJson(db, caller, series_id, booked) };
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
    versions: SERIES,
    first: ({ organizationId, ids }, series, _) => series.lock(organizationId, ids.series_id),
    async run({ organizationId, caller, ids: { series_id }, body }, series, db) {
      const { ids, cancelled } = await series.cancel(organizationId, series_id, body.from ?? null);
      const data = JSON.parse(await sessionsJson(db, caller, ids)) as unknown;
      return { changed: cancelled.length > 0, audit: { session_ids: cancelled }, answer: { data } };
    },
  }),
];

/** What was booked of a series, and what was left out. */
async function bookedJson(db: Database, caller: Caller, seriesId: string, booked: Booked): Promise<JsonText> {
  const skipped = booked.skipped.map(({ startsAt, endsAt, sessionId }) => ({
    starts_at: startsAt.toISOString(),
    ends_at: endsAt.toISOString(),
    session_id: sessionId,
  }));
  const data = await sessionsJson(db, caller, booked.ids);
  return new JsonText(`{"series_id":"${seriesId}","data":${data},"skipped":${JSON.stringify(skipped)}}`);
}
