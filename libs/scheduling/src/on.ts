import type { Database } from '@app/database';
import { BookingRequests } from './booking-requests.js';
import { Calendar } from './calendar.js';
import { LessonTerms } from './lesson-terms.js';
import { Register } from './register.js';
import { SessionChanges } from './session-changes.js';
import { SessionRows } from './session-rows.js';

/** For programs that are not Nest applications. */
export function schedulingOn(db: Database): { changes: SessionChanges; register: Register } {
  const [rows, terms] = [new SessionRows(db), new LessonTerms(db)];
  const changes = new SessionChanges(db, terms, new Calendar(db), rows, new BookingRequests(db));
  return { changes, register: new Register(db, rows, terms, changes) };
}
