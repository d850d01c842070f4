import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { inSlices } from '@app/concurrency';
import { Database, IS_STAFF } from '@app/database';
import { addDays, calendarsOf, dayOf, type DaysOff, endOfDay, slots, startOfDay, type Timed, type WeeklyHours } from '@app/scheduling'; // prettier-ignore
import { currencyOf } from '../money/approvals.queries.js';
import { nameOf } from '../money/invoices.queries.js';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import { idIn } from '../web/form.js';
import type { Asked } from './booking-form.js';
import type { PersonChoice } from './lessons.queries.js';

/** How far ahead free times are looked for, how many days have them, and how many of a day are offered. */
const MOST_DAYS = 21;
const DAYS_OFFERED = 3;
const MOST_A_DAY = 18;
const MOST_CLASSES = 25;
const MOST_SUBJECTS = 200;

export interface ClassChoice {
  kind: 'group' | 'classroom';
  id: string;
  name: string;
}

/** What the pages of a booking show. */
@Injectable()
export class BookingService {
  constructor(private readonly db: Database) {}

  /** Groups and classrooms, the newest first. */
  async classes({ organizationId }: Membership): Promise<ClassChoice[]> {
    const live = sql`organization_id = ${organizationId} AND NOT is_archived ORDER BY created_at DESC, id DESC LIMIT ${MOST_CLASSES}`;
    const [groups, classrooms] = await this.db.read<[ClassChoice, ClassChoice]>(
      { organizationId },
      sql`SELECT 'group' AS kind, id, name FROM student_groups WHERE ${live}`,
      sql`SELECT 'classroom' AS kind, id, name FROM classrooms WHERE ${live}`,
    );
    return [...groups, ...classrooms];
  }

  /** Whom a lesson is for and who teaches it, with the subjects. @throws PageError 404 for who cannot be booked */
  async people({ organizationId }: Membership, asked: Asked) {
    const [[who], [tutor], subjects, [organization]] = await this.db.read<
      [PersonChoice, PersonChoice, { id: string; name: string }, { currency: string }]
    >(
      { organizationId },
      whoNamed(organizationId, asked),
      asked.tutor ? memberNamed(organizationId, asked.tutor, IS_STAFF) : NOBODY,
      sql`SELECT id, name FROM subjects WHERE organization_id = ${organizationId} AND NOT is_archived ORDER BY lower(name), name LIMIT ${MOST_SUBJECTS}`,
      currencyOf(organizationId),
    );
    if (!who || (asked.tutor && !tutor)) throw PageError.notFound();
    return { who, tutor: tutor ?? null, subjects, currency: organization!.currency };
  }

  /** The free times of a tutor on the first days that have some, on the half hour if there are many. */
  async freeTimes(
    { organizationId, timeZone }: Membership,
    tutorId: string,
    first: string,
    minutes: number,
  ): Promise<Timed[][]> {
    const last = addDays(first, MOST_DAYS - 1);
    const reach = { from: startOfDay(first, timeZone), to: endOfDay(addDays(last, 1), timeZone) };
    const [rules, busy, timeOff] = await this.db.read<[WeeklyHours, Timed, DaysOff]>(
      { organizationId },
      ...calendarsOf(organizationId, sql`= ${tutorId}`, reach),
    );
    const calendar = {
      rules,
      busy,
      timeOff,
      from: first,
      to: last,
      duration: minutes,
      now: new Date(),
      zone: timeZone,
    };
    const free = await inSlices(slots(calendar));
    const days = [...Map.groupBy(free, ({ startsAt }) => dayOf(startsAt, timeZone)).values()].slice(0, DAYS_OFFERED);
    return days.map((times) => {
      const even = times.filter(({ startsAt }) => startsAt.getTime() % 1_800_000 === 0);
      return (times.length > MOST_A_DAY && even.length > 0 ? even : times).slice(0, MOST_A_DAY);
    });
  }

  /** The names of students. */
  async names({ organizationId }: Membership, ids: readonly string[]): Promise<Map<string, string | null>> {
    const [people] = await this.db.read<[PersonChoice]>(
      { organizationId },
      sql`SELECT m.user_id AS id, ${nameOf} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ANY (${ids}::uuid[])`,
    );
    return new Map(people.map(({ id, name }) => [id, name]));
  }
}

const NOBODY = sql`SELECT NULL::uuid AS id, NULL AS name WHERE false`;

const memberNamed = (organizationId: string, id: string, which: Sql): Sql => sql`
  SELECT m.user_id AS id, ${nameOf} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = ${organizationId} AND m.user_id = ${idIn(id)} AND m.status = 'accepted' AND m.${which}`;

function whoNamed(organizationId: string, { student, group, classroom }: Asked): Sql {
  const live = (id: string) => sql`organization_id = ${organizationId} AND id = ${idIn(id)} AND NOT is_archived`;
  if (group) return sql`SELECT id, name FROM student_groups WHERE ${live(group)}`;
  if (classroom) return sql`SELECT id, name FROM classrooms WHERE ${live(classroom)}`;
  return memberNamed(organizationId, student, sql`role = 'student'`);
}
