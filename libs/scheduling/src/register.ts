import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, SESSION, TAKES_PART, takesPart, VALUES } from '@app/database';
import { Refused } from '@app/rules';
import { OPEN, SessionChanges } from './session-changes.js';
import { LessonTerms } from './lesson-terms.js';
import { SessionRows } from './session-rows.js';

type Values = (typeof VALUES)['lesson_participants'];

/** The fields to change; undefined ones stay. */
export interface ParticipantChange {
  status?: Values['status'][number];
  attendance?: Values['attendance'][number] | null;
  /** An hour; null bills nothing. */
  rateCents?: number | null;
}

interface Found {
  id: string;
  status: (typeof SESSION.values)[number];
  studentId: string;
  takesPart: boolean;
  removed: boolean;
}

/** Who takes part in sessions, who came, and what each pays. */
@Injectable()
export class Register {
  constructor(
    private readonly db: Database,
    private readonly rows: SessionRows,
    private readonly terms: LessonTerms,
    private readonly changes: SessionChanges,
  ) {}

  /**
   * @throws Refused for one of a cancelled session, for a price once the session is completed, and for a student who has
   *   left and would take part again
   */
  async change(
    organizationId: string,
    id: string,
    { status, attendance, rateCents }: ParticipantChange,
  ): Promise<void> {
    const [session] = await this.db.query<Found>(sql`
      SELECT s.id, s.status, p.student_id AS "studentId", p.${TAKES_PART} AS "takesPart",
        p.status = 'removed' AS removed FROM sessions s
      JOIN lesson_participants p ON p.organization_id = s.organization_id AND p.session_id = s.id
      WHERE p.organization_id = ${organizationId} AND p.id = ${id} FOR UPDATE OF s`);
    if (!session) throw Refused.notFound();
    if (status === undefined && attendance === undefined && rateCents === undefined) return;
    const allowed = rateCents === undefined ? SESSION.values.filter((state) => state !== 'cancelled') : OPEN;
    if (!allowed.includes(session.status)) throw Refused.invalidState(session.status, allowed);
    const returns = !session.takesPart && status !== undefined && takesPart({ status });
    if (returns && !(await this.terms.areHere(organizationId, [session.studentId])))
      throw Refused.invalidState('archived', ['accepted'], 'This student has left.');
    await this.db.query(sql`
      UPDATE lesson_participants SET
        attendance = CASE WHEN ${attendance !== undefined} THEN ${attendance ?? null} ELSE attendance END,
        rate_cents = CASE WHEN ${rateCents !== undefined} THEN ${rateCents ?? null}::bigint ELSE rate_cents END,
        rate_given = rate_given OR ${rateCents !== undefined},
        responded_at = CASE WHEN ${status ?? null} IN ('accepted', 'declined') AND status <> ${status ?? null} THEN now() ELSE responded_at END,
        cancelled_at = CASE coalesce(${status ?? null}, status) WHEN 'cancelled' THEN coalesce(cancelled_at, now()) END,
        status = coalesce(${status ?? null}, status)
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    const removed = status === undefined ? session.removed : status === 'removed';
    if (OPEN.includes(session.status) && removed !== session.removed) {
      const newcomer = removed || rateCents !== undefined ? null : session.studentId;
      await this.changes.settleAgain(organizationId, session.id, newcomer);
    } else await this.rows.followParticipants(organizationId, session.id);
  }
}
