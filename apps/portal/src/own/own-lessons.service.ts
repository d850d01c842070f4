import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { isTooLate, OWN_DAYS } from '@app/billing';
import { Database } from '@app/database';
import {
  addDays, dayOf, endOfDay, type SeenLesson, seenLesson, seenLessons, type SeenStudent, seenStudents, startOfDay,
} from '@app/scheduling'; // prettier-ignore
import type { Managed } from '../web/access.decorators.js';
import { PageError } from '../web/page-error.js';

/** The most lessons of a page. */
const MOST = 100;
const DAY_MS = 86_400_000;

/** What somebody may see of lessons: the rule is `seenLessons`. */
@Injectable()
export class OwnLessons {
  constructor(private readonly db: Database) {}

  /** Those of some days, by day, and, of somebody who teaches, those to be completed. */
  async list(
    { organizationId, timeZone, by: { userId } }: Managed,
    { from, days, teaches }: { from: string; days: number; teaches: boolean },
  ) {
    const [first, last] = [startOfDay(from, timeZone), endOfDay(addDays(from, days - 1), timeZone)];
    const now = new Date();
    const since = new Date(now.getTime() - OWN_DAYS * DAY_MS);
    const [lessons, lately] = await this.db.read<[SeenLesson, SeenLesson]>(
      { organizationId },
      seenLessons(organizationId, userId, { from: first, to: last, most: MOST }),
      seenLessons(organizationId, userId, { from: since, to: now, most: teaches ? MOST : 0 }),
    );
    return {
      days: [...Map.groupBy(lessons, ({ startsAt }) => dayOf(startsAt, timeZone)).values()],
      due: lately.filter(isDue),
      full: lessons.length === MOST,
    };
  }

  /** @throws PageError 404 for a lesson that they may not see */
  async lesson({ organizationId, by: { userId } }: Managed, id: string) {
    const [[lesson], students, [organization]] = await this.db.read<
      [SeenLesson, SeenStudent, { policy: string | null }]
    >(
      { organizationId },
      seenLesson(organizationId, userId, id),
      seenStudents(organizationId, userId, id),
      sql`SELECT cancellation_policy AS policy FROM organizations WHERE id = ${organizationId}`,
    );
    if (!lesson) throw PageError.notFound();
    const known = lesson.teaches ? students : [];
    return {
      lesson: { ...lesson, due: isDue(lesson), ahead: isAhead(lesson) },
      students: known,
      policy: organization!.policy,
    };
  }
}

/** Whether the person completes it. */
const isDue = ({ teaches, status, startsAt }: SeenLesson): boolean =>
  teaches && status === 'scheduled' && startsAt.getTime() <= Date.now() && !isTooLate(startsAt);

const isAhead = ({ status, startsAt }: SeenLesson): boolean =>
  (status === 'pending' || status === 'scheduled') && startsAt.getTime() > Date.now();
