import { Module } from '@nestjs/common';
import { BookingRequests } from './booking-requests.js';
import { Bookings } from './bookings.js';
import { Calendar } from './calendar.js';
import { CalendarFeeds } from './calendar-feeds.js';
import { ClassLessons } from './class-lessons.js';
import { Departures } from './departures.js';
import { HandOvers } from './hand-overs.js';
import { LessonTerms } from './lesson-terms.js';
import { Obstacles } from './obstacles.js';
import { Places } from './places.js';
import { Previews } from './previews.js';
import { PriceSettling } from './price-settling.js';
import { Register } from './register.js';
import { Series } from './series.js';
import { SeriesChanges } from './series-changes.js';
import { SeriesPatterns } from './series-patterns.js';
import { SessionChanges } from './session-changes.js';
import { SessionRows } from './session-rows.js';
import { TutorHours } from './tutor-hours.js';

const RULES = [
  BookingRequests,
  Bookings,
  CalendarFeeds,
  ClassLessons,
  Departures,
  Obstacles,
  Previews,
  PriceSettling,
  Register,
  Series,
  SeriesChanges,
  SessionChanges,
  TutorHours,
];

@Module({
  providers: [...RULES, Calendar, HandOvers, LessonTerms, Places, SeriesPatterns, SessionRows],
  exports: RULES,
})
export class SchedulingModule {}
