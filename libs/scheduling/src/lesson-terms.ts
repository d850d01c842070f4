import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, findId, IS_STAFF, RetryTransaction, TAKES_PART } from '@app/database';
import { Refused } from '@app/rules';
import type { Subject, Terms } from './settling.js';

/** Who takes part: students by name, or those who are in a group or a classroom now. */
export type Who = { studentIds: readonly string[] } | { groupId: string } | { classroomId: string };

/** What is to be looked up for a session. */
export interface Wanted extends Subject {
  tutorId: string | null;
  /** Null: whoever takes part already in the session with this id. */
  who: Who | { sessionId: string };
}

/** Rows of `rate_cells`, as JSON. */
export const CELLS = sql`coalesce(json_agg(json_build_object('bandId', band_id, 'tierId', tutor_tier_id, 'subjectId', subject_id,
  'kind', session_kind, 'rateCents', student_rate_cents, 'surchargeCents', inperson_surcharge_cents,
  'payMode', tutor_pay_mode, 'payPct', tutor_pay_pct::text, 'flatRateCents', tutor_flat_rate_cents)), '[]')`;

interface Row extends Terms {
  staff: boolean | null;
  place_known: boolean;
}

/** Looks up what a session depends on, in one statement. */
@Injectable()
export class LessonTerms {
  constructor(private readonly db: Database) {}

  /** The subject with this id or code. @param before that of the session already @throws Refused for one that is unknown or archived */
  subjectId(organizationId: string, subject: string | null, before: string | null = null): Promise<string | null> {
    return findId(this.db, 'subjects', organizationId, subject, sql`${before}::uuid`);
  }

  /** Whether all of these students are accepted. */
  async areHere(organizationId: string, ids: readonly string[]): Promise<boolean> {
    if (ids.length === 0) return true;
    await this.db.lockPeople(organizationId, ids);
    const found = await this.db.query(students(organizationId, { studentIds: ids }));
    return found.length === ids.length;
  }

  /** Locks a tutor. @throws Refused unless they are accepted staff */
  async requireStaff(organizationId: string, tutorId: string): Promise<void> {
    const [, found] = await Promise.all([
      this.db.lockPeople(organizationId, [tutorId]),
      this.db.query(sql`
        SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${tutorId} AND status = 'accepted' AND ${IS_STAFF}`),
    ]);
    if (found.length === 0) throw Refused.notFound();
  }

  /** Locks the tutor and the students of a session that is moved. */
  async lockPeopleOf(organizationId: string, sessionId: string): Promise<void> {
    const people = await this.db.query<{ id: string | null }>(sql`
      SELECT unnest(ARRAY[tutor_id, student_id]) AS id FROM sessions WHERE organization_id = ${organizationId} AND id = ${sessionId}
      UNION SELECT student_id FROM lesson_participants WHERE organization_id = ${organizationId} AND session_id = ${sessionId}`);
    await this.db.lockPeople(
      organizationId,
      people.flatMap(({ id }) => (id === null ? [] : [id])),
    );
  }

  /** @throws Refused if the session, which was moved, is ahead now, and its tutor or somebody who takes part has left */
  async requireNobodyLeft(organizationId: string, sessionId: string, state: string): Promise<void> {
    const [left] = await this.db.query(sql`
      SELECT FROM sessions s JOIN members m ON m.organization_id = s.organization_id AND m.status = 'archived'
      WHERE s.organization_id = ${organizationId} AND s.id = ${sessionId} AND s.starts_at > now()
        AND (m.user_id IN (s.tutor_id, s.student_id) OR m.user_id IN (SELECT p.student_id FROM lesson_participants p
          WHERE p.organization_id = ${organizationId} AND p.session_id = ${sessionId} AND p.${TAKES_PART})) LIMIT 1`);
    if (!left) return;
    throw Refused.invalidState(state, [], 'Somebody in this session has left. Replace them before you move it.');
  }

  /**
   * Locks the people until the end of the transaction: nobody leaves while a session of theirs is booked.
   *
   * @param staying who is in the session already. Whoever has locked a session waits for none of these: someone who ends them
   *   may be waiting for it
   * @param strict whether the tutor must be accepted staff; one who stays may have left
   * @throws Refused for anybody or anything that is not the organization's, or not accepted
   */
  async of(organizationId: string, wanted: Wanted, strict: boolean, staying: readonly string[] = []): Promise<Terms> {
    const { tutorId, who } = wanted;
    const named = 'studentIds' in who ? who.studentIds : await this.studentsIn(organizationId, who);
    const newcomers = [...named, ...(strict && tutorId ? [tutorId] : [])].filter((id) => !staying.includes(id));
    // In one round trip: the rows are read once the people are locked.
    const [, terms] = await Promise.all([
      this.db.lockPeople(organizationId, newcomers),
      this.read(organizationId, wanted, strict),
    ]);
    // Somebody has come since they were looked up.
    const known = [...newcomers, ...staying];
    if (!('sessionId' in who) && !terms.students.every(({ id }) => known.includes(id))) throw new RetryTransaction();
    return terms;
  }

  private async studentsIn(organizationId: string, who: Wanted['who']): Promise<string[]> {
    if ('sessionId' in who) return [];
    const found = await this.db.query<{ user_id: string }>(students(organizationId, who));
    return found.map(({ user_id: id }) => id);
  }

  private async read(
    organizationId: string,
    { tutorId, who, subjectId, groupId, classroomId }: Wanted,
    strict: boolean,
  ): Promise<Terms> {
    const own = sql`organization_id = ${organizationId}`;
    // A lesson that is booked outlives its class, but no other one is booked.
    const goesOn = 'groupId' in who || 'classroomId' in who ? sql`NOT is_archived` : sql`true`;
    const [found] = await this.db.query<Row>(sql`
      WITH tutor AS (
        SELECT m.status = 'accepted' AND m.${IS_STAFF} AS staff, p.tutor_tier_id AS tier FROM members m
        LEFT JOIN tutor_profiles p ON p.organization_id = m.organization_id AND p.user_id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ${tutorId})
      SELECT (SELECT staff FROM tutor) AS staff, (SELECT tier FROM tutor) AS "tierId",
        (${groupId}::uuid IS NULL OR EXISTS (SELECT FROM student_groups WHERE ${own} AND id = ${groupId} AND ${goesOn}))
          AND (${classroomId}::uuid IS NULL OR EXISTS (SELECT FROM classrooms WHERE ${own} AND id = ${classroomId} AND ${goesOn})) AS place_known,
        (SELECT rate_per_student_cents FROM student_groups WHERE ${own} AND id = ${groupId}) AS "groupRateCents",
        (SELECT coalesce(json_agg(json_build_object('id', s.user_id, 'bandId', s.rate_band_id) ORDER BY s.user_id), '[]')
          FROM (${students(organizationId, who)}) s) AS students,
        (SELECT ${CELLS} FROM rate_cells WHERE ${own} AND (subject_id IS NULL OR subject_id = ${subjectId})
            AND (tutor_tier_id IS NULL OR tutor_tier_id = (SELECT tier FROM tutor))) AS cells`);
    const { staff, place_known: placeKnown, ...terms } = found!;
    const missing = 'studentIds' in who && terms.students.length < who.studentIds.length;
    if ((strict && !staff) || !placeKnown || missing) throw Refused.notFound();
    if (terms.students.length === 0 && !('sessionId' in who)) {
      throw Refused.invalid('It has no students yet: add some first.', 'groupId' in who ? 'group_id' : 'classroom_id');
    }
    return terms;
  }
}

function students(organizationId: string, who: Wanted['who']): Sql {
  const accepted = sql`m.organization_id = ${organizationId} AND m.role = 'student' AND m.status = 'accepted'`;
  if ('studentIds' in who) {
    return sql`SELECT m.user_id, m.rate_band_id FROM members m WHERE ${accepted} AND m.user_id = ANY (${who.studentIds}::uuid[])`;
  }
  if ('groupId' in who) {
    return sql`SELECT m.user_id, m.rate_band_id FROM members m JOIN student_group_members g ON g.user_id = m.user_id
      JOIN student_groups r ON r.id = g.group_id
      WHERE ${accepted} AND r.organization_id = ${organizationId} AND r.id = ${who.groupId} AND g.role = 'student'`;
  }
  if ('classroomId' in who) {
    return sql`SELECT m.user_id, m.rate_band_id FROM members m
      JOIN classroom_members c ON c.organization_id = m.organization_id AND c.user_id = m.user_id
      WHERE ${accepted} AND c.classroom_id = ${who.classroomId} AND c.role = 'student'`;
  }
  return sql`SELECT m.user_id, m.rate_band_id FROM members m
    JOIN lesson_participants p ON p.organization_id = m.organization_id AND p.student_id = m.user_id
    WHERE m.organization_id = ${organizationId} AND p.session_id = ${who.sessionId} AND p.status <> 'removed'`;
}
