import { Module } from '@nestjs/common';
import { BookingRequests } from './booking-requests.js';
import { Bookings } from './bookings.js';
import { Calendar } from './calendar.js';
import { Departures } from './departures.js';
import { HandOvers } from './hand-overs.js';
import { LessonTerms } from './lesson-terms.js';
import { Register } from './register.js';
import { Series } from './series.js';
import { SessionChanges } from './session-changes.js';
import { SessionRows } from './session-rows.js';
import { TutorHours } from './tutor-hours.js';

const RULES = [BookingRequests, Bookings, Departures, Register, Series, SessionChanges, TutorHours];

@Module({ providers: [...RULES, Calendar, HandOvers, LessonTerms, SessionRows], exports: RULES })
export class SchedulingModule {}
