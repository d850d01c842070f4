export { BookingRequests, type WantedLesson } from './booking-requests.js';
export { Bookings, type Booked, type WantedSession } from './bookings.js';
export type { Clash } from './calendar.js';
export { CalendarFeeds, type FeedOfLessons } from './calendar-feeds.js';
export { ClassLessons } from './class-lessons.js';
export { Departures, type SessionsAhead, type SessionsLeft } from './departures.js';
export type { Who } from './lesson-terms.js';
export { LAST_INSTANT, overlapping, overlaps, type Timed } from './overlap.js';
export { type Obstacle, Obstacles, type Planned } from './obstacles.js';
export type { Place } from './places.js';
export { Previews } from './previews.js';
export { PriceSettling, type Resettled } from './price-settling.js';
export { type ParticipantChange, Register } from './register.js';
export type { RateCell, SessionKind } from './rates.js';
export { type Extent, MOST_IN_SERIES, type Repeated, Series, timesOf } from './series.js';
export { type SeriesChange, SeriesChanges } from './series-changes.js';
export { SchedulingModule } from './scheduling.module.js';
export { LONGEST, type SessionChange, SHORTEST } from './session-change.js';
export { SessionChanges, withoutTutor } from './session-changes.js';
export { learners,
  maySeeLessons, removedLessons, type SeenLesson, seenLesson, seenLessons, type SeenStudent, seenStudents,
} from './seen-lessons.js'; // prettier-ignore
export { type ParticipantPrice, settle as settleRates } from './settling.js';
export { type Calendar, type DaysOff, overlappingRules, slots, slotsOfAll, type WeeklyHours } from './slots.js';
export { calendarsOf } from './tutor-calendars.js';
export { type AbsenceRow, TutorHours, type WeeklyRow } from './tutor-hours.js';
export {
  addDays, dayOf, dayOfWeek, daysBetween, endOfDay, instantAt, occurrences, type Repetition, startOfDay,
} from './wall-clock.js'; // prettier-ignore
