import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import { overlaps, type Timed } from './overlap.js';

/** A session that takes the tutor's time. */
export interface Busy extends Timed {
  id: string;
}

/** A time that is wanted, and a session in its way. */
export interface Clash extends Timed {
  sessionId: string;
}

/** The tutors' calendars. */
@Injectable()
export class Calendar {
  constructor(private readonly db: Database) {}

  /**
   * Waits for its turn with the tutor's calendar, which it keeps until the end of the ambient transaction, so that of two
   * requests for the same time the later one sees what the earlier one did. Lock sessions before, and nothing but students,
   * invoices and counters after.
   *
   * @param except a session that is to move
   * @returns the tutor's sessions in this organization from the first time to the last
   */
  async hold(organizationId: string, tutorId: string, times: readonly Timed[], except?: string): Promise<Busy[]> {
    const from = new Date(Math.min(...times.map(({ startsAt }) => startsAt.getTime())));
    const to = new Date(Math.max(...times.map(({ endsAt }) => endsAt.getTime())));
    // In one round trip; the second statement sees what was committed before the first one ended.
    const [, sessions] = await Promise.all([
      this.db.lock(`calendar of ${tutorId} in ${organizationId}`),
      this.db.query<Busy>(sql`
        SELECT id, starts_at AS "startsAt", ends_at AS "endsAt" FROM sessions
        WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND status <> 'cancelled'
          AND starts_at < ${to.toISOString()} AND starts_at > ${from.toISOString()}::timestamptz - interval '24 hours'
          AND ends_at > ${from.toISOString()}
        ORDER BY starts_at, id`),
    ]);
    return sessions.filter(({ id }) => id !== except);
  }
}

/** Those of the wanted times that are taken, each with the first session in its way. */
export function clashesOf(times: readonly Timed[], busy: readonly Busy[]): Clash[] {
  return times.flatMap((time) => {
    const other = busy.find((session) => overlaps(time, session));
    return other ? [{ ...time, sessionId: other.id }] : [];
  });
}

export function overlapWith({ sessionId }: Clash): Refused {
  return Refused.conflict(
    'session_overlap',
    'The tutor has another session at this time. Choose a different one, or send "allow_overlap".',
    {
      session_id: sessionId,
    },
  );
}
