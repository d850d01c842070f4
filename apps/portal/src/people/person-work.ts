import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, type RESULT, type SESSION, TAKES_PART, type VALUES } from '@app/database';
import { shownName } from '@app/people';
import { currencyOf } from '../money/approvals.queries.js';
import { balanceOf, type BalanceRow, studentsOf } from '../money/families.queries.js';
import { memberName } from '../money/invoices.queries.js';
import type { Membership } from '../web/sessions.js';
import type { NamedRow } from './person.queries.js';

/** A lesson of somebody: one of the next, or of the last. */
export interface LessonRow {
  id: string;
  ahead: boolean;
  title: string | null;
  status: (typeof SESSION.values)[number];
  starts_at: Date;
  tutor_id: string | null;
  tutor: string | null;
  /** What the student pays for an hour, in cents; null for tutors, and where none is set. */
  rate: number | null;
}

export interface HomeworkRow {
  title: string;
  due_date: Date | null;
  created_at: Date;
}

export interface ResultRow {
  mode: (typeof VALUES)['results']['mode'][number];
  status: (typeof RESULT.values)[number];
  grade: number | null;
  completed_at: Date | null;
  created_at: Date;
}

/** What somebody does in an organization: the newest of each, for their page. */
export interface Work {
  lessons: LessonRow[];
  /** A student's tutors, or a tutor's students; up to ten. */
  others: NamedRow[];
  subjects: NamedRow[];
  /** Hours of the week. */
  hours: { day_of_week: number; start_time: string; end_time: string }[];
  homework: HomeworkRow[];
  results: ResultRow[];
  balance: BalanceRow;
  currency: string;
}

const FEW = 5;

@Injectable()
export class PersonWork {
  constructor(private readonly db: Database) {}

  /** @param as what they are; a member who is a parent, too, is asked about as a member */
  async of({ organizationId }: Membership, id: string, as: 'student' | 'staff' | 'parent'): Promise<Work> {
    const none = sql`SELECT WHERE false`;
    const only = (whom: typeof as, query: Sql) => (as === whom ? query : none);
    const [lessons, others, subjects, hours, homework, results, [balance], [organization]] = await this.db.read<
      [LessonRow, NamedRow, NamedRow, Work['hours'][number], HomeworkRow, ResultRow, BalanceRow, { currency: string }]
    >(
      { organizationId },
      as === 'parent' ? none : lessonsOf(organizationId, id, as),
      as === 'parent' ? none : othersOf(organizationId, id, as),
      only('staff', subjectsOf(organizationId, id)),
      only('staff', hoursOf(organizationId, id)),
      only('student', homeworkOf(organizationId, id)),
      only('student', resultsOf(organizationId, id)),
      as === 'staff' ? none : balanceOf(organizationId, studentsOf(organizationId, { as, id }), id),
      currencyOf(organizationId),
    );
    const nothing = { invoiced: 0, paid: 0, open: 0, credit: 0 };
    return {
      lessons,
      others,
      subjects,
      hours,
      homework,
      results,
      balance: balance ?? nothing,
      currency: organization!.currency,
    };
  }
}

const taught = (userId: string): Sql => sql`s.tutor_id = ${userId}`;

const joined = (
  organizationId: string,
  userId: string,
): Sql => sql`s.id IN (SELECT p.session_id FROM lesson_participants p
  WHERE p.organization_id = ${organizationId} AND p.student_id = ${userId} AND p.${TAKES_PART})`;

/** The next lessons, soonest first, and then the last ones. */
function lessonsOf(organizationId: string, userId: string, as: 'student' | 'staff'): Sql {
  const rate =
    as === 'staff'
      ? sql`NULL::float8`
      : sql`(SELECT p.rate_cents::float8 FROM lesson_participants p
          WHERE p.organization_id = ${organizationId} AND p.session_id = s.id AND p.student_id = ${userId})`;
  const own = as === 'staff' ? taught(userId) : joined(organizationId, userId);
  const some = (
    ahead: boolean,
    which: Sql,
    order: Sql,
  ) => sql`(SELECT s.id, ${ahead}::boolean AS ahead, s.title, s.status, s.starts_at, s.tutor_id,
    ${memberName(organizationId, sql`s.tutor_id`)} AS tutor, ${rate} AS rate
    FROM sessions s WHERE s.organization_id = ${organizationId} AND ${own} AND ${which} ORDER BY ${order} LIMIT ${FEW})`;
  return sql`${some(true, sql`s.starts_at > now() AND s.status IN ('pending', 'scheduled')`, sql`s.starts_at, s.id`)}
    UNION ALL ${some(false, sql`s.starts_at <= now() AND s.status <> 'cancelled'`, sql`s.starts_at DESC, s.id DESC`)}`;
}

function othersOf(organizationId: string, userId: string, as: 'student' | 'staff'): Sql {
  const [own, other] = as === 'staff' ? [sql`t.tutor_id`, sql`t.student_id`] : [sql`t.student_id`, sql`t.tutor_id`];
  return sql`
    SELECT DISTINCT ${other} AS id, ${shownName('m')} AS name FROM tutor_students t
    JOIN members m ON m.organization_id = t.organization_id AND m.user_id = ${other} LEFT JOIN users u ON u.id = m.user_id
    WHERE t.organization_id = ${organizationId} AND ${own} = ${userId} AND t.status = 'active' ORDER BY 2, 1 LIMIT 10`;
}

const subjectsOf = (organizationId: string, userId: string): Sql => sql`
  SELECT s.id, s.name FROM tutor_subjects t JOIN subjects s ON s.organization_id = t.organization_id AND s.id = t.subject_id
  WHERE t.organization_id = ${organizationId} AND t.user_id = ${userId} ORDER BY s.name, s.id LIMIT 50`;

const hoursOf = (organizationId: string, userId: string): Sql => sql`
  SELECT day_of_week, start_time, end_time FROM availabilities WHERE organization_id = ${organizationId} AND tutor_id = ${userId}
  ORDER BY (day_of_week + 6) % 7, start_time LIMIT 30`;

/** Set for the student, or for a class or group of theirs. */
const homeworkOf = (organizationId: string, userId: string): Sql => sql`
  SELECT h.title, h.due_date, h.created_at FROM homework h WHERE h.organization_id = ${organizationId} AND (h.student_id = ${userId}
    OR h.classroom_id IN (SELECT classroom_id FROM classroom_members WHERE organization_id = ${organizationId} AND user_id = ${userId})
    OR h.group_id IN (SELECT g.id FROM student_groups g JOIN student_group_members p ON p.group_id = g.id
      WHERE g.organization_id = ${organizationId} AND p.user_id = ${userId}))
  ORDER BY h.created_at DESC, h.id DESC LIMIT ${FEW}`;

const resultsOf = (organizationId: string, userId: string): Sql => sql`
  SELECT mode, status, grade, completed_at, created_at FROM organization_results
  WHERE organization_id = ${organizationId} AND student_id = ${userId} ORDER BY created_at DESC, result_id DESC LIMIT ${FEW}`;
