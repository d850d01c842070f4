import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { CELLS } from './lesson-terms.js';
import type { Cents, RateCell } from './rates.js';
import { SessionRows } from './session-rows.js';
import { type ParticipantPrice, settle, type Subject } from './settling.js';

interface LockedSession extends Subject {
  id: string;
  groupRateCents: Cents;
  participants: (ParticipantPrice & { bandId: string | null })[];
}

/** Gives sessions to another tutor, in the ambient transaction: however many, in the same few statements. */
@Injectable()
export class HandOvers {
  constructor(
    private readonly db: Database,
    private readonly rows: SessionRows,
  ) {}

  /** Prices and pay are settled anew. @param ids of sessions that are locked @param tutorId who has time for them, and is locked */
  async give(organizationId: string, ids: readonly string[], tutorId: string): Promise<void> {
    const [sessions, [prices]] = await Promise.all([
      this.db.query<LockedSession>(sql`
        SELECT s.id, s.subject_id AS "subjectId", s.mode, s.group_id AS "groupId", s.classroom_id AS "classroomId",
          g.rate_per_student_cents AS "groupRateCents", coalesce(p.participants, '[]') AS participants
        FROM sessions s LEFT JOIN student_groups g ON g.organization_id = s.organization_id AND g.id = s.group_id
        LEFT JOIN LATERAL (SELECT json_agg(json_build_object('studentId', p.student_id, 'bandId', m.rate_band_id,
            'rateCents', p.rate_cents, 'rateGiven', p.rate_given AND p.rate_cents IS NOT NULL) ORDER BY p.student_id) AS participants
          FROM lesson_participants p JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
          WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND p.status <> 'removed') p ON true
        WHERE s.organization_id = ${organizationId} AND s.id = ANY (${ids}::uuid[])`),
      this.db.query<{ tierId: string | null; cells: RateCell[] }>(sql`
        SELECT t.tier AS "tierId", (SELECT ${CELLS} FROM rate_cells WHERE organization_id = ${organizationId} AND (tutor_tier_id IS NULL OR tutor_tier_id = t.tier)) AS cells
        FROM (SELECT (SELECT tutor_tier_id FROM tutor_profiles
          WHERE organization_id = ${organizationId} AND user_id = ${tutorId}) AS tier) t`),
    ]);
    const settled = sessions.map((session) => {
      const students = session.participants.map(({ studentId, bandId }) => ({ id: studentId, bandId }));
      const terms = { ...prices!, groupRateCents: session.groupRateCents, students };
      return { id: session.id, ...settle(terms, session, undefined, session.participants) };
    });
    await this.rows.price(organizationId, settled, tutorId);
  }
}
