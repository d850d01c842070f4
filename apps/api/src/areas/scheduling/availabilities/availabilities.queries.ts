import sql, { type Sql } from 'sql-template-tag';
import { IS_STAFF } from '@app/database';
import {
  byId, days, kinds, list, orDefault, parameter, queryOf, type RecordDeclaration, Source,
} from '../../../http/kit.js'; // prettier-ignore
import { MOST_DAYS } from '../tutor-calendars.js';
import { availabilityView, timeOffView } from './availabilities.view.js';

const RULES = new Source('availabilities', 'a');

/** Rows of members who are, or were, staff. */
const STAFF = new Source('members', 'm', { id: 'user_id' });

export const AVAILABILITIES = list({
  id: 'list_availabilities',
  path: 'v1/availabilities',
  summary: 'Lists the weekly hours of tutors, newest first',
  description:
    'Times are wall-clock times of `timezone`; an end of `24:00` is the end of the day. When a tutor can be booked also depends ' +
    'on sessions and time off: see `available-slots`.',
  view: availabilityView,
  source: RULES,
  parameters: [
    byId('tutor_id', 'Only hours of this tutor (user id).'),
    parameter('day_of_week', kinds.dayOfWeek, 'Only hours on this day of the week: 0 is Sunday.', {
      column: 'day_of_week',
      comparison: 'equals',
    }),
  ],
});

export const AVAILABILITY: RecordDeclaration = {
  id: 'get_availability',
  path: 'v1/availabilities/:availability_id',
  summary: 'Returns the weekly hours of a tutor on one day',
  source: RULES,
  view: availabilityView,
};

/** What a PUT answers: all weekly hours of a tutor. */
export const HOURS = list({
  id: 'list_tutor_availabilities',
  path: 'v1/tutors/:tutor_id/availabilities',
  summary: 'Lists the weekly hours of a tutor',
  view: availabilityView,
  source: RULES,
  order: sql`a.day_of_week, a.start_time, a.id`,
  bare: 'data',
  select: (_query, _caller, { tutor_id }) => ({ filters: [sql`a.tutor_id = ${tutor_id}`] }),
});

export const TIME_OFF = list({
  id: 'list_tutor_time_off',
  path: 'v1/tutors/:tutor_id/time-off',
  summary: 'Lists the days on which a tutor does not teach',
  description: "All of them, past ones too, by their first day. Days are those of the organization's time zone.",
  view: timeOffView,
  source: new Source('time_off', 'f'),
  order: sql`f.starts_on, f.ends_on, f.id`,
  bare: 'data',
  select: (_query, _caller, { tutor_id }) => ({
    filters: [sql`f.tutor_id = ${tutor_id}`],
    within: { source: STAFF, where: sql`m.user_id = ${tutor_id} AND m.${IS_STAFF}` },
  }),
});

export class SlotsQuery extends queryOf([
  ...days(MOST_DAYS, { from: 'The first day.', to: `The last day, at most ${MOST_DAYS} days later.` }),
  orDefault(parameter('duration', kinds.integer(5, 720), 'Minutes of a lesson.'), 60),
  parameter('duration_minutes', kinds.integer(5, 720), 'The same as `duration`, which it replaces.'),
]) {}

/** Whether somebody is, or was, staff, and with which status. */
export const statusOf = (organizationId: string, tutorId: string): Sql => sql`SELECT status FROM members
  WHERE organization_id = ${organizationId} AND user_id = ${tutorId} AND ${IS_STAFF}`;

/** The next slot of one tutor. */
export class NextSlotQuery extends queryOf([
  orDefault(parameter('duration_minutes', kinds.integer(5, 720), 'Minutes of a lesson.'), 60),
]) {}
