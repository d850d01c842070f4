import { Completion } from '@app/billing';
import { Bookings, PriceSettling, SessionChanges, startOfDay } from '@app/scheduling';
import { listController, one, recordController, writeController } from '../../../http/kit.js';
import { changeBy, CreateSession, UpdateSession, wantedBy } from '../booking.dto.js';
import { attendedBy, CancelSession, CompleteSession, SettlePrices } from './sessions.dto.js';
import { settledShape, shownAs } from './sessions.view.js';
import { SESSION, SESSION_LIST } from './sessions.queries.js';

export const SESSIONS_CONTROLLERS = [
  listController(SESSION_LIST),
  recordController(SESSION),
  writeController({
    id: 'create_session',
    route: 'POST /v1/sessions',
    scope: 'sessions:write',
    summary: 'Books a session',
    description:
      'Send exactly one of `student_id`, `student_ids`, `group_id` and `classroom_id`, and one of ' +
      '`duration_minutes` and `ends_at`. Everybody who takes part is a lesson participant, with the price of an hour: ' +
      'what the request says, else the group’s rate, else the organization’s rates; null bills nothing. A time at ' +
      'which the tutor has another session is a 409 that names it.',
    example: {
      tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      starts_at: '2027-03-01T05:00:00Z',
      duration_minutes: 60,
    },
    conflicts: ['invalid_state', 'session_overlap'],
    body: CreateSession,
    rules: [Bookings],
    answers: SESSION,
    versions: SESSION,
    idName: 'session_id',
    run: ({ organizationId, body }, bookings) => {
      const { wanted, time } = wantedBy(body);
      return bookings.book(organizationId, wanted, time);
    },
  }),
  writeController({
    id: 'update_session',
    route: 'PUT /v1/sessions/:session_id',
    scope: 'sessions:write',
    summary: 'Moves or changes a session, or confirms a pending one',
    description:
      'Omitted fields stay unchanged; a new `starts_at` alone keeps the duration. `student_ids` replaces who takes part: ' +
      'whoever is missing becomes `removed`. Prices are settled anew when the tutor, the subject, the mode or who takes ' +
      'part changes, except those that somebody has set. Completed and cancelled sessions cannot change.',
    example: { starts_at: '2027-03-01T08:00:00Z' },
    conflicts: ['invalid_state', 'session_overlap'],
    body: UpdateSession,
    rules: [SessionChanges],
    answers: SESSION,
    versions: SESSION,
    run: ({ organizationId, ids, body }, changes) => changes.change(organizationId, ids.session_id, changeBy(body)),
  }),
  writeController({
    id: 'complete_session',
    route: 'PUT /v1/sessions/:session_id/complete',
    scope: 'sessions:write',
    summary: 'Completes a session that has begun',
    description:
      'Bills everybody who takes part and is not excused, a line on the draft of each, and settles what the tutor gets. Who is ' +
      'not named attended, unless something else was recorded before. Again: unchanged; with another attendance, a 409.',
    example: { participants: [{ student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', attendance: 'attended' }] },
    conflicts: ['invalid_state'],
    body: CompleteSession,
    rules: [Completion],
    answers: SESSION,
    versions: SESSION,
    run: ({ organizationId, ids, body }, completion) =>
      completion.complete(organizationId, ids.session_id, attendedBy(body)),
  }),
  writeController({
    id: 'reopen_session',
    route: 'POST /v1/sessions/:session_id/reopen',
    status: 200,
    scope: 'sessions:write',
    summary: 'Takes a completed session back to scheduled',
    description:
      'What it billed is removed from the drafts, with who came and what the tutor gets. Once a line of it has been issued: ' +
      '409. Again: unchanged.',
    conflicts: ['invalid_state'],
    rules: [Completion],
    answers: SESSION,
    versions: SESSION,
    run: ({ organizationId, ids }, completion) => completion.reopen(organizationId, ids.session_id),
  }),
  writeController({
    id: 'cancel_session',
    route: 'POST /v1/sessions/:session_id/cancel',
    status: 200,
    scope: 'sessions:write',
    summary: 'Cancels a session',
    description:
      'Participants who have not declined are cancelled too, and the time is free again. With `charge_percent`, that part of ' +
      'what completing would have billed is added to each student’s draft. Again: unchanged.',
    example: { reason: 'Called off an hour before.', charge_percent: 50 },
    conflicts: ['invalid_state'],
    body: CancelSession,
    rules: [Completion],
    answers: SESSION,
    versions: SESSION,
    async run({ organizationId, ids, body: { reason = null, charge_percent: percent = null } }, completion) {
      const changed = await completion.cancel(organizationId, ids.session_id, reason, percent);
      return { changed, audit: changed ? { charge_percent: percent ?? 0 } : undefined };
    },
  }),
  writeController({
    id: 'settle_session_prices',
    route: 'POST /v1/sessions/settle-prices',
    status: 200,
    scope: ['settings:write', 'sessions:write'],
    summary: 'Settles what upcoming sessions cost by the prices of now',
    description:
      'For sessions ahead that are pending or scheduled, at most 2,000 at once (422 with their number). A rate or a pay that a ' +
      'request gave stays. Answers the sessions whose prices change; with `dry_run` nothing is written.',
    example: { from: '2027-03-01', student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
    body: SettlePrices,
    rules: [PriceSettling],
    answers: one(settledShape),
    async run({ organizationId, caller, body }, settling) {
      const { from, student_id: studentId = null, tutor_id: tutorId = null, dry_run } = body;
      const at = from.wholeDay ? startOfDay(from.at.toISOString().slice(0, 10), caller.organization.timeZone) : from.at;
      const { sessions, changed } = await settling.settle(organizationId, { from: at, studentId, tutorId }, dry_run);
      const ids = dry_run ? [] : changed.map(({ sessionId }) => sessionId);
      const answer = { dry_run, sessions, changed: changed.map(shownAs) };
      return { changed: !dry_run, audit: { session_ids: ids }, answer };
    },
  }),
  writeController({
    id: 'remove_session',
    route: 'DELETE /v1/sessions/:session_id',
    scope: 'sessions:write',
    summary: 'Deletes a session that was booked by mistake',
    description:
      'Not a completed one, nor one that another record names, such as a payment: 409. Cancel these instead.',
    conflicts: ['invalid_state', 'still_referenced'],
    rules: [SessionChanges],
    answers: null,
    versions: SESSION,
    run: ({ organizationId, ids }, changes) => changes.remove(organizationId, ids.session_id),
  }),
];
