import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, type DateBound, SESSION } from '@app/database';
import { Refused } from '@app/rules';
import { type Busy, Calendar, type Clash, clashesOf } from './calendar.js';
import { LessonTerms } from './lesson-terms.js';
import { LAST_INSTANT, type Timed } from './overlap.js';
import { Places } from './places.js';
import { type SeriesPattern, SeriesPatterns } from './series-patterns.js';
import type { SessionChange } from './session-change.js';
import { OPEN, SessionChanges } from './session-changes.js';
import { shifted, shiftOf, startOfDay } from './wall-clock.js';

/** What can change of the sessions of a series; undefined fields stay. */
export type SeriesChange = Omit<SessionChange, 'who' | 'status' | 'title' | 'endsAt' | 'bookingRequestId'>;

/** A session that stays as it was, because another one is in the way of its new time. */
export interface Unmoved extends Timed {
  id: string;
  inTheWay: string;
}

interface Sibling extends Timed {
  id: string;
  status: (typeof SESSION.values)[number];
  tutorId: string | null;
  detached: boolean;
}

/** A session, with the time and the tutor that it is to have. */
interface Moving {
  session: Sibling;
  time: Timed;
  tutorId: string | null;
}

/** The sessions of a series from a day or an instant on that are still to be held. */
interface Following {
  ahead: Sibling[];
  pattern: SeriesPattern;
  zone: string;
}

/** Changes the sessions of a series that are ahead, but for those that somebody has changed by hand. */
@Injectable()
export class SeriesChanges {
  constructor(
    private readonly db: Database,
    private readonly terms: LessonTerms,
    private readonly calendar: Calendar,
    private readonly places: Places,
    private readonly patterns: SeriesPatterns,
    private readonly changes: SessionChanges,
  ) {}

  /** Locks the sessions of a series, which come before the series itself. */
  lock(organizationId: string, seriesId: string): Promise<Sibling[]> {
    return this.db.query<Sibling>(sql`
      SELECT id, status, tutor_id AS "tutorId", starts_at AS "startsAt", ends_at AS "endsAt", series_detached AS detached
      FROM sessions WHERE organization_id = ${organizationId} AND series_id = ${seriesId} ORDER BY id FOR UPDATE`);
  }

  /**
   * A new start is that of the first session that changes; the others keep their distance in days, at that time of the clock.
   *
   * @param from a day or an instant; now if null
   * @returns the ids of those that were changed, of those that stay by hand, and those that were skipped
   * @throws Refused like a change of a session: for any of them, unless those whose new time is taken may be skipped
   */
  async change(organizationId: string, id: string, from: DateBound | null, change: SeriesChange, skip: boolean) {
    const series = await this.following(organizationId, id, from);
    const detached = series.ahead.filter((session) => session.detached).map(({ id }) => id);
    if (Object.values<unknown>(change).every((value) => value === undefined)) {
      return { ids: [], skipped: [], detached, changed: false };
    }

    if (change.tutorId) await this.terms.requireStaff(organizationId, change.tutorId);
    const { follow, to, wanted } = planned(series, change);
    if (wanted.some(({ time }) => time.endsAt > LAST_INSTANT)) {
      throw Refused.invalid('The series must end in the year 9999 at the latest.', 'starts_at');
    }
    const skipped = await this.skipped(organizationId, wanted.filter(moves), change.allowOverlap ?? false, skip);
    await this.apply(organizationId, wanted.filter(({ session }) => !skipped.some(({ id }) => id === session.id)), change); // prettier-ignore
    await this.detach(organizationId, skipped.map(({ id }) => id)); // prettier-ignore
    const subjectId =
      change.subject === undefined
        ? series.pattern.subjectId
        : await this.terms.subjectId(organizationId, change.subject, series.pattern.subjectId);
    await this.places.require(organizationId, change.locationId ?? null);
    await this.patterns.update(organizationId, { ...to.pattern, subjectId });
    const ids = follow.map(({ id }) => id).filter((id) => !skipped.some((one) => one.id === id));
    return { ids, skipped, detached, changed: true };
  }

  /** The sessions that a change would change, each with its time then. */
  async placed(organizationId: string, id: string, from: DateBound, change: SeriesChange) {
    const { wanted } = planned(await this.following(organizationId, id, from), change);
    return wanted.map(({ session, time }) => ({ id: session.id, ...time }));
  }

  private async following(organizationId: string, id: string, from: DateBound | null): Promise<Following> {
    const sessions = await this.lock(organizationId, id);
    const pattern = await this.patterns.lock(organizationId, id);
    const zone = await this.patterns.zoneOf(organizationId);
    const ahead = sessions
      .filter(({ startsAt, status }) => startsAt >= instantOf(from, zone) && OPEN.includes(status))
      .sort((one, other) => one.startsAt.getTime() - other.startsAt.getTime());
    return { ahead, pattern, zone };
  }

  /** Those whose new time is taken. The old times of the others are in nobody's way. @throws Refused unless they may be skipped */
  private async skipped(
    organizationId: string,
    moving: readonly Moving[],
    allowOverlap: boolean,
    skip: boolean,
  ): Promise<Unmoved[]> {
    const busy = new Map<string, Busy[]>();
    const siblings = moving.map(({ session }) => session.id);
    for (const [tutorId, own] of Map.groupBy(moving, ({ tutorId }) => tutorId ?? '')) {
      const times = own.map(({ time }) => time);
      if (tutorId) busy.set(tutorId, await this.calendar.lock(organizationId, tutorId, times, siblings));
    }
    if (allowOverlap) return [];
    const found: Unmoved[] = [];
    let left = [...moving];
    for (;;) {
      // Whoever stays is in the way of others from then on.
      const clashes = left.flatMap((one) => {
        const [clash] = clashesOf([one.time], busy.get(one.tutorId ?? '') ?? []);
        return clash ? [{ ...one, clash }] : [];
      });
      found.push(...clashes.map(({ session, clash }) => unmoved(session, clash)));
      if (clashes.length === 0) break;
      left = left.filter(({ session }) => !found.some(({ id }) => id === session.id));
      for (const { session } of clashes) busy.get(session.tutorId ?? '')?.push(session);
    }
    if (found.length === 0 || (skip && left.length > 0)) return found;
    throw Refused.conflict(
      'session_overlap',
      'The tutor has other sessions at some of the new times. Choose different ones, or send "skip_conflicts" or "allow_overlap".',
      {
        session_id: found[0]!.inTheWay,
        clashes: found.map(({ id, startsAt, endsAt, inTheWay }) => ({
          session_id: id,
          starts_at: startsAt.toISOString(),
          ends_at: endsAt.toISOString(),
          in_the_way: inTheWay,
        })),
      },
    );
  }

  private async apply(organizationId: string, wanted: readonly Moving[], change: SeriesChange): Promise<void> {
    const ids = wanted.filter(moves).map(({ session }) => session.id);
    // One moves to where another was, and each is marked anew as it is placed.
    await this.db.query(sql`
      UPDATE sessions SET overlap_allowed = true WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])`);
    for (const { session, time } of wanted) {
      const startsAt = change.startsAt && time.startsAt;
      await this.changes.change(organizationId, session.id, { ...change, startsAt, allowOverlap: true }, ids);
    }
  }

  /** What stayed behind does not follow the series any more. */
  private async detach(organizationId: string, ids: readonly string[]): Promise<void> {
    await this.db.query(sql`
      UPDATE sessions SET series_detached = true, updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])`);
  }
}

/** A day is one of the zone; now if null. */
export function instantOf(from: DateBound | null, zone: string): Date {
  if (!from) return new Date();
  return from.wholeDay ? startOfDay(from.at.toISOString().slice(0, 10), zone) : from.at;
}

const moves = ({ session, time, tutorId }: Moving): boolean =>
  session.tutorId !== tutorId ||
  session.startsAt.getTime() !== time.startsAt.getTime() ||
  session.endsAt.getTime() !== time.endsAt.getTime();

const unmoved = ({ id }: Sibling, { startsAt, endsAt, sessionId }: Clash): Unmoved => ({
  id,
  startsAt,
  endsAt,
  inTheWay: sessionId,
});

/** The sessions that a change changes, with what they are to have, and the pattern after it. */
function planned({ ahead, pattern, zone }: Following, change: SeriesChange) {
  const follow = ahead.filter(({ detached }) => !detached);
  const to = patternWith(pattern, follow[0], change, zone);
  const wanted = follow.map((session): Moving => {
    const startsAt = to.startOf(session.startsAt);
    const length =
      change.minutes === undefined ? session.endsAt.getTime() - session.startsAt.getTime() : change.minutes * 60_000;
    const time = { startsAt, endsAt: new Date(startsAt.getTime() + length) };
    return { session, time, tutorId: change.tutorId ?? session.tutorId };
  });
  return { follow, to, wanted };
}

/** The pattern after a change, and where it puts a start. */
function patternWith(pattern: SeriesPattern, first: Sibling | undefined, change: SeriesChange, zone: string) {
  const { startsAt, minutes, tutorId, mode, meetingUrl, locationId, studentRateCents, tutorPayRateCents } = change;
  if (startsAt && !first) throw Refused.invalid('No session of the series is left to move.', 'starts_at');
  const shift = startsAt && first ? shiftOf(first.startsAt, startsAt, zone) : null;
  const startOf = (at: Date): Date => {
    if (!shift || at.getTime() === first!.startsAt.getTime()) return startsAt ?? at;
    return shifted(at, shift, zone);
  };
  const last = startOf(pattern.lastStartsAt);
  const to = {
    ...pattern,
    startsAt: startsAt ?? pattern.startsAt,
    lastStartsAt: startsAt && startsAt > last ? startsAt : last,
    minutes: minutes ?? pattern.minutes,
    tutorId: tutorId ?? pattern.tutorId,
    mode: mode === undefined ? pattern.mode : mode,
    meetingUrl: meetingUrl === undefined ? pattern.meetingUrl : meetingUrl,
    locationId: locationId === undefined ? pattern.locationId : locationId,
    studentRateCents: studentRateCents === undefined ? pattern.studentRateCents : studentRateCents,
    tutorPayRateCents: tutorPayRateCents === undefined ? pattern.tutorPayRateCents : tutorPayRateCents,
  };
  return { pattern: to, startOf };
}
