import sql from 'sql-template-tag';
import { inSlices } from '@app/concurrency';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import {
  addDays,
  dayOf,
  type DaysOff,
  endOfDay,
  calendarsOf,
  slots,
  startOfDay,
  type Timed,
  TutorHours,
  type WeeklyHours,
} from '@app/scheduling';
import {
  type Caller,
  listController,
  Lists,
  many,
  one,
  readController,
  recordController,
  writeController,
} from '../../../http/kit.js';
import { MOST_DAYS, type Reach, reachOf } from '../tutor-calendars.js';
import { ReplaceAvailabilities, ReplaceTimeOff } from './availabilities.dto.js';
import {
  AVAILABILITIES,
  AVAILABILITY,
  HOURS,
  NextSlotQuery,
  SlotsQuery,
  statusOf,
  TIME_OFF,
} from './availabilities.queries.js';
import { availabilityView, availableSlotsShape, nextSlotShape, timeOffView } from './availabilities.view.js';

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
    const reach = reachOf(caller, from, to);
    const free = await slotsOf(db, caller, tutor_id, reach, duration);
    const days = { from_date: reach.first, to_date: reach.last };
    return { tutor_id, duration_minutes: duration, ...days, slots: free.map(shown) };
  },
});

const NEXT_SLOT = readController({
  id: 'get_next_slot',
  path: 'v1/tutors/:tutor_id/next-slot',
  summary: 'Returns when a tutor can be booked next',
  description: `The first slot of today and the next ${MOST_DAYS} days, as \`available-slots\` has them; null if there is none.`,
  query: NextSlotQuery,
  answer: one(nextSlotShape),
  rules: [Database],
  async run({ caller, ids: { tutor_id }, query: { duration_minutes: duration } }, db) {
    const zone = caller.organization.timeZone;
    const first = dayOf(new Date(), zone);
    const reach = {
      first,
      last: addDays(first, MOST_DAYS),
      from: startOfDay(first, zone),
      to: endOfDay(addDays(first, MOST_DAYS + 1), zone),
    };
    const [next] = await slotsOf(db, caller, tutor_id, reach, duration);
    return { tutor_id, duration_minutes: duration, ...(next ? shown(next) : { starts_at: null, ends_at: null }) };
  },
});

/** @throws Refused for somebody who was never staff */
async function slotsOf(
  db: Database,
  caller: Caller,
  tutorId: string,
  reach: Reach,
  duration: number,
): Promise<Timed[]> {
  const { organizationId } = caller;
  const [[tutor], rules, busy, timeOff] = await db.read<[{ status: string }, WeeklyHours, Timed, DaysOff]>(
    caller,
    statusOf(organizationId, tutorId),
    ...calendarsOf(organizationId, sql`= ${tutorId}`, reach),
  );
  if (!tutor) throw Refused.notFound();
  // Whoever has not accepted, or is archived, cannot be booked.
  if (tutor.status !== 'accepted') return [];
  const days = { from: reach.first, to: reach.last, zone: caller.organization.timeZone };
  return inSlices(slots({ rules, busy, timeOff, ...days, duration, now: new Date() }));
}

const shown = ({ startsAt, endsAt }: Timed) => ({ starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() });

export const AVAILABILITIES_CONTROLLERS = [
  listController(AVAILABILITIES),
  recordController(AVAILABILITY),
  listController(TIME_OFF),
  SLOTS,
  NEXT_SLOT,
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
