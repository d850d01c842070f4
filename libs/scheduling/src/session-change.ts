import { type SESSION } from '@app/database';
import { Refused } from '@app/rules';
import { minutesOf, type WantedSession } from './bookings.js';
import { LAST_INSTANT, type Timed } from './overlap.js';
import type { SessionRow } from './session-rows.js';

/** The shortest and the longest session that can be asked for, in minutes. */
export const SHORTEST = 5;
export const LONGEST = 720;

/** The fields to change; undefined ones stay. */
export type SessionChange = Partial<WantedSession> & { startsAt?: Date; endsAt?: Date; minutes?: number };

/** A session as it is, which is locked. */
export interface Stored extends Timed {
  id: string;
  status: (typeof SESSION.values)[number];
  tutorId: string | null;
  subjectId: string | null;
  groupId: string | null;
  classroomId: string | null;
  mode: string | null;
  meetingUrl: string | null;
  locationId: string | null;
  seriesId: string | null;
  payGiven: boolean;
  /** The session's own price, even if a participant pays another one. */
  setRateCents: string | null;
  reason: string | null;
}

/** Whether a change sets time, tutor, subject, rates or place apart from those of the series. */
export function leavesSeries(session: Stored, change: SessionChange, changed: Partial<SessionRow>): boolean {
  const { tutorId, subjectId, mode, meetingUrl, locationId } = session;
  const were = { tutor_id: tutorId, subject_id: subjectId, mode, meeting_url: meetingUrl, location_id: locationId };
  const others = Object.entries(were).some(
    ([name, value]) => name in changed && changed[name as keyof SessionRow] !== value,
  );
  // Only a session that is moved has a new start or end.
  return (
    others || 'starts_at' in changed || change.studentRateCents !== undefined || change.tutorPayRateCents !== undefined
  );
}

/** A new start alone keeps the duration. */
export function timeOf(session: Stored, { startsAt = session.startsAt, endsAt, minutes }: SessionChange): Timed {
  const length = minutes === undefined ? session.endsAt.getTime() - session.startsAt.getTime() : minutes * 60_000;
  const time = { startsAt, endsAt: endsAt ?? new Date(startsAt.getTime() + length) };
  if (endsAt && (minutesOf(time) < SHORTEST || minutesOf(time) > LONGEST)) {
    throw Refused.invalid(`A session takes ${SHORTEST} to ${LONGEST} minutes.`, 'ends_at');
  }
  if (time.endsAt > LAST_INSTANT)
    throw Refused.invalid(
      'The session must end in the year 9999 at the latest.',
      endsAt ? 'ends_at' : 'duration_minutes',
    );
  return time;
}
