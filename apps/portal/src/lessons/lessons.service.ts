import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, pageOf } from '@app/database';
import { addDays, endOfDay, startOfDay } from '@app/scheduling';
import { currencyOf } from '../money/approvals.queries.js';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import { isOfDays, lengthOf, type LessonFilter } from './lessons.filter.js';
import {
  begun, clashing, lesson, type LessonDetails, type LessonRow, lessonsBetween, lookedAt, LOOKED_AT, type ParticipantRow,
  participantsOf, type PersonChoice, staffMember, staffOf, unassigned,
} from './lessons.queries.js'; // prettier-ignore

/** Rows per page: with long names, a page stays below 60 kB. */
const PAGE = 40;

/** The most tutors that a list to choose from has; of more, one is searched for. */
const MOST_TUTORS = 50;

const NONE = sql`SELECT NULL::uuid AS id, NULL::timestamptz AS starts_at WHERE false`;

const byName = (one: PersonChoice, other: PersonChoice): number =>
  (one.name ?? '').localeCompare(other.name ?? '') || (one.id < other.id ? -1 : 1);

/** Lessons, to be read. */
@Injectable()
export class LessonsService {
  constructor(private readonly db: Database) {}

  /** A page of lessons, the tutors to choose from (null if they are too many), and the one that was chosen. */
  async list({ organizationId, timeZone }: Membership, filter: LessonFilter) {
    const looks = filter.state === 'clashing';
    const [rows, looked, tutors, [tutor = null]] = await this.db.read<
      [LessonRow, { id: string; starts_at: Date }, PersonChoice, PersonChoice]
    >(
      { organizationId },
      this.rows(organizationId, timeZone, filter),
      looks ? lookedAt(organizationId, filter) : NONE,
      staffOf(organizationId, MOST_TUTORS + 1),
      staffMember(organizationId, filter.tutor),
    );
    const { rows: lessons, next } = pageOf(rows, PAGE, 'starts_at');
    const last = looked.length === LOOKED_AT ? looked.at(-1)! : null;
    const further = last && { at: last.starts_at, id: last.id };
    const choices = tutors.length > MOST_TUTORS ? null : tutors.sort(byName);
    return { lessons, next: next ?? further, tutors: choices, tutor };
  }

  private rows(organizationId: string, timeZone: string, filter: LessonFilter) {
    const most = PAGE + 1;
    if (isOfDays(filter)) {
      const last = addDays(filter.from, lengthOf(filter) - 1);
      const span = [startOfDay(filter.from, timeZone), endOfDay(last, timeZone)] as const;
      return lessonsBetween(organizationId, filter, span, most);
    }
    if (filter.state === 'unassigned') return unassigned(organizationId, filter.after, most);
    return (filter.state === 'clashing' ? clashing : begun)(organizationId, filter, most);
  }

  /** The lesson, and the tutors to choose from. @throws PageError 404 if the organization has no such lesson */
  async lesson({ organizationId }: Membership, id: string) {
    const [[found], participants, [organization], tutors] = await this.db.read<
      [LessonDetails, ParticipantRow, { currency: string }, PersonChoice]
    >(
      { organizationId },
      lesson(organizationId, id),
      participantsOf(organizationId, id),
      currencyOf(organizationId),
      staffOf(organizationId, MOST_TUTORS),
    );
    if (!found) throw PageError.notFound();
    return { lesson: found, participants, currency: organization!.currency, tutors: tutors.sort(byName) };
  }
}
