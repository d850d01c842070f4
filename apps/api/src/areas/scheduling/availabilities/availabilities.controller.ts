import { inSlices } from '@app/concurrency';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import {
  addDays,
  type DaysOff,
  endOfDay,
  slots,
  startOfDay,
  type Timed,
  TutorHours,
  type WeeklyHours,
} from '@app/scheduling';
import {
  dayIn,
  listController,
  Lists,
  many,
  one,
  readController,
  recordController,
  writeController,
} from '../../../http/kit.js';
import { ReplaceAvailabilities, ReplaceTimeOff } from './availabilities.dto.js';
import { AVAILABILITIES, AVAILABILITY, calendarOf, HOURS, SlotsQuery, TIME_OFF } from './availabilities.queries.js';
import { availabilityView, availableSlotsShape, timeOffView } from './availabilities.view.js';

const SLOTS = readController({
  id: 'get_available_slots',
  path: 'v1/tutors/:tutor_id/available-slots',
  summary: 'Returns when a tutor can be booked',
  description:
    'The weekly hours without the tutor’s sessions (except cancelled ones) and time off. Slots start on the quarter hour of ' +
    '`from` to `to`, which are days of the organization’s time zone, and never in the past. Hours that touch count as one. ' +
    'A tutor who has not accepted, or is archived, has none.',
  query: SlotsQuery,
  answer: one(availableSlotsShape),
  rules: [Database],
  async run(
    { caller, ids: { tutor_id }, query: { from, to, duration: short, duration_minutes: duration = short } },
    db,
  ) {
    const zone = caller.organization.timeZone;
    const [first, last] = [dayIn(from, zone), dayIn(to, zone)];
    // A slot ends at most 12 hours after the last day: within the next one.
    const reach = [startOfDay(first, zone), endOfDay(addDays(last, 1), zone)] as const;
    const [[tutor], rules, busy, timeOff] = await db.read<[{ status: string }, WeeklyHours, Timed, DaysOff]>(
      caller,
      ...calendarOf(caller, tutor_id, ...reach),
    );
    if (!tutor) throw Refused.notFound();
    const calendar = { rules, busy, timeOff, from: first, to: last, duration, now: new Date(), zone };
    // Whoever has not accepted, or is archived, cannot be booked.
    const free = tutor.status === 'accepted' ? await inSlices(slots(calendar)) : [];
    return {
      tutor_id,
      duration_minutes: duration,
      from_date: first,
      to_date: last,
      slots: free.map(({ startsAt, endsAt }) => ({ starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() })),
    };
  },
});

export const AVAILABILITIES_CONTROLLERS = [
  listController(AVAILABILITIES),
  recordController(AVAILABILITY),
  listController(TIME_OFF),
  SLOTS,
  writeController({
    id: 'replace_tutor_availabilities',
    route: 'PUT /v1/tutors/:tutor_id/availabilities',
    scope: 'tutors:write',
    summary: 'Replaces the weekly hours of a tutor',
    description:
      'Hours that stay as they are keep their ids. Hours of one day and time zone must not overlap; they may touch. Sessions stay ' +
      'as they are. The body may also be the list alone.',
    example: {
      availabilities: [
        { day_of_week: 1, start_time: '16:00', end_time: '20:30' },
        { day_of_week: 6, start_time: '09:00', end_time: '12:00', timezone: 'Australia/Perth' },
      ],
    },
    body: ReplaceAvailabilities,
    rules: [TutorHours, Lists],
    answers: many(availabilityView),
    async run({ organizationId, caller, ids, body }, hours, lists) {
      const zone = caller.organization.timeZone;
      const wanted = body.availabilities.map((one) => Object.assign({}, one, { timezone: one.timezone ?? zone }));
      await hours.replaceWeekly(organizationId, ids.tutor_id, wanted);
      return { answer: await lists.written(caller, HOURS, ids) };
    },
  }),
  writeController({
    id: 'replace_tutor_time_off',
    route: 'PUT /v1/tutors/:tutor_id/time-off',
    scope: 'tutors:write',
    summary: 'Replaces the days on which a tutor does not teach',
    description:
      'Time off that stays as it is keeps its id. Days are those of the organization’s time zone. Sessions on these days stay as ' +
      'they are. The body may also be the list alone.',
    example: { time_off: [{ starts_on: '2026-09-19', ends_on: '2026-10-04', note: 'School holidays' }] },
    body: ReplaceTimeOff,
    rules: [TutorHours, Lists],
    answers: many(timeOffView),
    async run({ organizationId, caller, ids, body }, hours, lists) {
      await hours.replaceTimeOff(organizationId, ids.tutor_id, body.time_off);
      return { answer: await lists.written(caller, TIME_OFF, ids) };
    },
  }),
];
