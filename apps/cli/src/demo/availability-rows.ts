import { DAY } from './clock.js';
import type { Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';

/** After school on four weekdays, and on Saturday mornings. */
const HOURS: [day: number, start: string, end: string][] = [
  [1, '16:00', '20:30'],
  [2, '16:00', '20:30'],
  [4, '15:30', '19:00'],
  [5, '16:00', '18:30'],
  [6, '09:00', '13:00'],
];

/** One tutor lives elsewhere, and teaches late at night. */
const ELSEWHERE = 2;

function* availabilities(school: School): Rows {
  for (const [index, tutor] of school.teachers.entries()) {
    for (const [place, [day_of_week, start_time, end_time]] of HOURS.entries()) {
      // Everybody has one of these days off.
      if (place === index % HOURS.length) continue;
      yield {
        id: school.id('availability', index * 10 + place),
        tutor_id: tutor.id,
        day_of_week,
        start_time,
        end_time: index === ELSEWHERE && end_time === '20:30' ? '24:00' : end_time,
        timezone: index === ELSEWHERE ? 'Australia/Perth' : school.profile.timeZone,
        created_at: iso(tutor.createdAt + DAY),
      };
    }
  }
}

/** Holidays behind and ahead. */
function* timeOff(school: School): Rows {
  for (const [index, { id: tutor_id, createdAt }] of school.teachers.entries()) {
    const first = index % 2 === 0 ? -60 - index : 20 + index;
    yield {
      id: school.id('time-off', index),
      tutor_id,
      starts_on: school.clock.date(first),
      ends_on: school.clock.date(first + (index % 3) * 7),
      note: index % 3 === 0 ? null : 'School holidays',
      created_at: iso(createdAt + 2 * DAY),
    };
  }
}

export const availabilityRows: TableRows = { availabilities, time_off: timeOff };
