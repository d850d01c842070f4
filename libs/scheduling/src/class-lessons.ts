import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
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

  /** Locks them, before anybody waits for the people. @returns their ids */
  async lock(organizationId: string, { kind, id }: Class): Promise<string[]> {
    const lessons = await this.db.query<{ id: string }>(sql`
      SELECT id FROM sessions WHERE organization_id = ${organizationId} AND ${raw(`${kind}_id`)} = ${id}
        AND starts_at > now() AND status = ANY (${OPEN}) ORDER BY id FOR UPDATE`);
    return lessons.map((lesson) => lesson.id);
  }

  /** Who joins the class takes part, and pays what newcomers pay. Who has declined a lesson stays away from it. */
  async join(organizationId: string, lessons: readonly string[], studentId: string): Promise<void> {
    const joined = await this.db.query<{ id: string }>(sql`
      INSERT INTO lesson_participants AS p (organization_id, id, session_id, student_id, status, invited_at)
      SELECT ${organizationId}, place, lesson, ${studentId}, 'accepted', now()
      FROM unnest(${lessons.map(() => uuidv7())}::uuid[], ${lessons}::uuid[]) AS n (place, lesson)
      ON CONFLICT (session_id, student_id) DO UPDATE SET status = 'accepted' WHERE p.status = 'removed'
      RETURNING session_id AS id`);
    for (const { id } of joined) await this.changes.settleAgain(organizationId, id, studentId);
  }

  /** Who leaves the class takes part no more. A lesson that nobody is left in waits for others. */
  async leave(organizationId: string, lessons: readonly string[], studentId: string): Promise<void> {
    const left = await this.db.query<{ id: string }>(sql`
      UPDATE lesson_participants SET status = 'removed' WHERE organization_id = ${organizationId}
        AND session_id = ANY (${lessons}::uuid[]) AND student_id = ${studentId} AND ${TAKES_PART}
      RETURNING session_id AS id`);
    for (const { id } of left) await this.changes.settleAgain(organizationId, id, null);
  }
}
