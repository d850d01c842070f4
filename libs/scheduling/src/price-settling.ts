import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import { CELLS } from './lesson-terms.js';
import { type Cents, type Pay, type RateCell } from './rates.js';
import { OPEN } from './session-changes.js';
import { type ParticipantAmounts, SessionRows } from './session-rows.js';
import { type ParticipantPrice, settle, type Subject } from './settling.js';

/** The most sessions that one request settles. */
const MOST = 2_000;

/** Which upcoming sessions: of whom, and those that start at or after an instant. */
export interface Upcoming {
  from: Date;
  studentId: string | null;
  tutorId: string | null;
}

/** What a session costs and pays. */
interface Priced extends Pay {
  participants: ParticipantAmounts[];
}

export interface Resettled {
  sessionId: string;
  before: Priced;
  after: Priced;
}

interface Locked extends Subject, Pay {
  id: string;
  tierId: string | null;
  groupRateCents: Cents;
  payGiven: boolean;
  participants: (ParticipantPrice & { bandId: string | null })[];
}

/** Settles sessions ahead by the prices of now, in the ambient transaction. */
@Injectable()
export class PriceSettling {
  constructor(
    private readonly db: Database,
    private readonly rows: SessionRows,
  ) {}

  /**
   * Every rate and every pay that a request gave stays, also "none".
   *
   * @param dryRun only says what would change
   * @returns how many sessions there are, and those that change @throws Refused for unknown people, and at `from` for more than 2,000 sessions
   */
  async settle(
    organizationId: string,
    { from, studentId, tutorId }: Upcoming,
    dryRun: boolean,
  ): Promise<{ sessions: number; changed: Resettled[] }> {
    const named = [studentId, tutorId].filter((id) => id !== null);
    const known = await this.db.query(sql`
      SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ANY (${named}::uuid[])`);
    if (known.length < new Set(named).size) throw Refused.notFound();
    const ids = await this.db.query<{ id: string }>(sql`
      SELECT s.id FROM sessions s WHERE s.organization_id = ${organizationId} AND s.status = ANY (${OPEN})
        AND s.starts_at >= greatest(${from.toISOString()}::timestamptz, now())
        AND (${tutorId}::uuid IS NULL OR s.tutor_id = ${tutorId})
        AND (${studentId}::uuid IS NULL OR EXISTS (SELECT FROM lesson_participants p
          WHERE p.organization_id = ${organizationId} AND p.session_id = s.id AND p.student_id = ${studentId} AND p.status <> 'removed'))
      ORDER BY s.id FOR UPDATE OF s`);
    if (ids.length > MOST) {
      const found = `There are ${ids.length.toLocaleString('en')} sessions, and one request settles at most ${MOST.toLocaleString('en')}.`;
      throw Refused.invalid(`${found} Name a tutor or a student.`, 'from');
    }
    const [sessions, cells] = await Promise.all([
      this.locked(organizationId, ids),
      this.db.query<{ cells: RateCell[] }>(
        sql`SELECT ${CELLS} AS cells FROM rate_cells WHERE organization_id = ${organizationId}`,
      ),
    ]);
    const changed = sessions.flatMap((session) => {
      const before = pricedAs(session, session.participants);
      const after = anew(session, cells[0]!.cells);
      return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ sessionId: session.id, before, after }];
    });
    if (!dryRun) await this.rows.price(organizationId, changed.map(({ sessionId, after: { participants, ...pay } }) => ({ id: sessionId, participants, pay }))); // prettier-ignore
    return { sessions: ids.length, changed };
  }

  /** Without those that nobody takes part in: they have no price. */
  private locked(organizationId: string, ids: readonly { id: string }[]): Promise<Locked[]> {
    return this.db.query<Locked>(sql`
      SELECT s.id, s.subject_id AS "subjectId", s.mode, s.group_id AS "groupId", s.classroom_id AS "classroomId",
        s.tutor_pay_given AS "payGiven", s.tutor_pay_rate_cents AS "payRateCents", s.tutor_pay_pct::text AS "payPct",
        t.tutor_tier_id AS "tierId", g.rate_per_student_cents AS "groupRateCents", p.participants
      FROM sessions s
      LEFT JOIN tutor_profiles t ON t.organization_id = s.organization_id AND t.user_id = s.tutor_id
      LEFT JOIN student_groups g ON g.organization_id = s.organization_id AND g.id = s.group_id
      JOIN LATERAL (SELECT json_agg(json_build_object('studentId', p.student_id, 'bandId', m.rate_band_id,
          'rateCents', p.rate_cents, 'rateGiven', p.rate_given, 'surchargeCents', p.surcharge_cents) ORDER BY p.student_id) AS participants
        FROM lesson_participants p JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
        WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND p.status <> 'removed') p ON p.participants IS NOT NULL
      WHERE s.organization_id = ${organizationId} AND s.id = ANY (${ids.map(({ id }) => id)}::uuid[]) ORDER BY s.starts_at, s.id`);
  }
}

/** Amounts as numbers, whichever way the database wrote them. */
function pricedAs({ payRateCents, payPct }: Pay, participants: Priced['participants']): Priced {
  return {
    participants: participants.map(({ studentId, rateCents, surchargeCents }) => ({
      studentId,
      rateCents: numeric(rateCents),
      surchargeCents: numeric(surchargeCents),
    })),
    payRateCents: numeric(payRateCents),
    payPct: numeric(payPct),
  };
}

const numeric = (amount: Cents): Cents => (amount === null ? null : Number(amount));

function anew(session: Locked, cells: readonly RateCell[]): Priced {
  const { tierId, groupRateCents, payGiven, participants: before } = session;
  const students = before.map(({ studentId, bandId }) => ({ id: studentId, bandId }));
  const { participants, pay } = settle({ tierId, groupRateCents, students, cells }, session, undefined, before);
  // A price that somebody took away stays away.
  const kept = participants.map((participant, at) =>
    before[at]!.rateGiven && before[at]!.rateCents === null ? before[at]! : participant,
  );
  return pricedAs(payGiven ? session : pay, kept);
}
