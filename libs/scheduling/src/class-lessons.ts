import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, TAKES_PART } from '@app/database';
import { OPEN, SessionChanges } from './session-changes.js';

/** A classroom or a group, as sessions name it. */
interface Class {
  kind: 'classroom' | 'group';
  id: string;
}

/** The lessons that a class has yet to begin follow its students, in the ambient transaction. */
@Injectable()
export class ClassLessons {
  constructor(
    private readonly db: Database,
    private readonly changes: SessionChanges,
  ) {}

  /** Locks those of classes, before anybody waits for the people. @param ids of classrooms and groups */
  async lock(organizationId: string, ids: readonly string[]): Promise<void> {
    await this.ahead(organizationId, sql`(classroom_id = ANY (${ids}::uuid[]) OR group_id = ANY (${ids}::uuid[]))`);
  }

  /** Who joins the class takes part, and pays what newcomers pay. Who has declined a lesson stays away from it. */
  async join(organizationId: string, ref: Class, studentId: string): Promise<void> {
    const lessons = await this.of(organizationId, ref);
    const joined = await this.db.query<{ id: string }>(sql`
      INSERT INTO lesson_participants AS p (organization_id, id, session_id, student_id, status, invited_at)
      SELECT ${organizationId}, place, lesson, ${studentId}, 'accepted', now()
      FROM unnest(${lessons.map(() => uuidv7())}::uuid[], ${lessons}::uuid[]) AS n (place, lesson)
      ON CONFLICT (organization_id, session_id, student_id) DO UPDATE SET status = 'accepted' WHERE p.status = 'removed'
      RETURNING session_id AS id`);
    for (const { id } of joined) await this.changes.settleAgain(organizationId, id, studentId);
  }

  /** Who leaves the class takes part no more. A lesson that nobody is left in waits for others. */
  async leave(organizationId: string, ref: Class, studentId: string): Promise<void> {
    const lessons = await this.of(organizationId, ref);
    const left = await this.db.query<{ id: string }>(sql`
      UPDATE lesson_participants SET status = 'removed' WHERE organization_id = ${organizationId}
        AND session_id = ANY (${lessons}::uuid[]) AND student_id = ${studentId} AND ${TAKES_PART}
      RETURNING session_id AS id`);
    for (const { id } of left) await this.changes.settleAgain(organizationId, id, null);
  }

  private of(organizationId: string, { kind, id }: Class): Promise<string[]> {
    return this.ahead(organizationId, sql`${raw(`${kind}_id`)} = ${id}`);
  }

  /** Locked, in the order of their ids. */
  private async ahead(organizationId: string, which: Sql): Promise<string[]> {
    const lessons = await this.db.query<{ id: string }>(sql`
      SELECT id FROM sessions WHERE organization_id = ${organizationId} AND ${which}
        AND starts_at > now() AND status = ANY (${OPEN}) ORDER BY id FOR UPDATE`);
    return lessons.map((lesson) => lesson.id);
  }
}
