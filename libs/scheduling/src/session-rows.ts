import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, driverErrorOf, RetryTransaction, SQLSTATE, sqlStateOf, TAKES_PART } from '@app/database';
import { Refused } from '@app/rules';
import { linkWith } from './places.js';
import { commonRate, type Pay } from './rates.js';
import type { ParticipantPrice } from './settling.js';

/** A row of sessions, as it is written. */
export type SessionRow = Record<(typeof COLUMNS)[number], string | number | boolean | null>;

const COLUMNS = [
  'id', 'status', 'title', 'tutor_id', 'student_id', 'subject_id', 'group_id', 'classroom_id', 'series_id', 'starts_at',
  'ends_at', 'duration_minutes', 'tutor_pay_rate_cents', 'tutor_pay_pct', 'tutor_pay_given', 'student_rate_cents',
  'student_rate_given', 'set_rate_cents', 'mode', 'meeting_url', 'location_id',
  'overlap_allowed', 'series_detached',
] as const; // prettier-ignore

const LIST = raw(COLUMNS.join(', '));

/** What a student pays. */
export type ParticipantAmounts = Pick<ParticipantPrice, 'studentId' | 'rateCents' | 'surchargeCents'>;

/** Writes sessions and their participants, in the ambient transaction. */
@Injectable()
export class SessionRows {
  constructor(private readonly db: Database) {}

  /** Adds sessions that the same people take part in, in one round trip. */
  async add(
    organizationId: string,
    sessions: readonly SessionRow[],
    participants: readonly ParticipantPrice[],
  ): Promise<void> {
    const people = sessions.flatMap(({ id }) =>
      participants.map((participant) => participantRow(String(id), participant)),
    );
    await withoutOverlap(
      Promise.all([
        this.db.query(sql`
          INSERT INTO sessions (organization_id, ${LIST})
          SELECT ${organizationId}, ${LIST} FROM json_populate_recordset(NULL::sessions, ${JSON.stringify(sessions)}::json)`),
        this.db.query(sql`
          INSERT INTO lesson_participants
            (organization_id, id, session_id, student_id, status, rate_cents, rate_given, surcharge_cents, invited_at)
          SELECT ${organizationId}, id, session_id, student_id, 'accepted', rate_cents, rate_given, surcharge_cents, now()
          FROM json_populate_recordset(NULL::lesson_participants, ${JSON.stringify(people)}::json)`),
      ]),
    );
  }

  /** Writes a session that exists. @param changed the columns with their new values */
  async update(organizationId: string, id: string, changed: Partial<SessionRow>): Promise<void> {
    const names = Object.keys(changed);
    const assigned = raw(names.map((name) => `${name} = r.${name}`).join(', '));
    await withoutOverlap(
      this.db.query(sql`
        UPDATE sessions s SET updated_at = now(), ${assigned}
        FROM json_populate_record(NULL::sessions, ${JSON.stringify(changed)}::json) r
        WHERE s.organization_id = ${organizationId} AND s.id = ${id}`),
    );
  }

  /**
   * Writes prices and pay. A pay that somebody has set stays.
   *
   * @param tutorId gives them to another tutor, who has time for them
   */
  async price(
    organizationId: string,
    settled: readonly { id: string; participants: readonly ParticipantAmounts[]; pay: Pay }[],
    tutorId: string | null = null,
  ): Promise<void> {
    const sessions = settled.map(({ id, participants, pay }) => ({ id, rate: commonRate(participants), ...pay }));
    const people = settled.flatMap(({ id, participants }) =>
      participants.map(({ studentId, rateCents, surchargeCents }) => {
        return { session_id: id, student_id: studentId, rate_cents: rateCents, surcharge_cents: surchargeCents };
      }),
    );
    await withoutOverlap(
      Promise.all([
        this.db.query(sql`
          UPDATE sessions s SET tutor_id = coalesce(${tutorId}, tutor_id), overlap_allowed = overlap_allowed AND ${tutorId}::uuid IS NULL,
            updated_at = now(), student_rate_cents = n.rate, meeting_url = ${tutorId ? linkWith(tutorId) : sql`s.meeting_url`},
            tutor_pay_rate_cents = CASE WHEN tutor_pay_given THEN tutor_pay_rate_cents ELSE n."payRateCents" END,
            tutor_pay_pct = CASE WHEN tutor_pay_given THEN tutor_pay_pct ELSE n."payPct" END
          FROM json_to_recordset(${JSON.stringify(sessions)}::json)
            AS n (id uuid, rate bigint, "payRateCents" bigint, "payPct" numeric)
          WHERE s.organization_id = ${organizationId} AND s.id = n.id`),
        this.db.query(sql`
          UPDATE lesson_participants p SET rate_cents = n.rate_cents, surcharge_cents = n.surcharge_cents
          FROM json_populate_recordset(NULL::lesson_participants, ${JSON.stringify(people)}::json) n
          WHERE p.organization_id = ${organizationId} AND p.session_id = n.session_id AND p.student_id = n.student_id
            AND (p.rate_cents, p.surcharge_cents) IS DISTINCT FROM (n.rate_cents, n.surcharge_cents)`),
      ]),
    );
  }

  /** Who takes part from now on: whoever is missing is removed, and who was removed is back. */
  async replaceParticipants(
    organizationId: string,
    sessionId: string,
    participants: readonly ParticipantPrice[],
  ): Promise<void> {
    const people = participants.map((participant) => participantRow(sessionId, participant));
    const staying = participants.map(({ studentId }) => studentId);
    await Promise.all([
      this.db.query(sql`
        UPDATE lesson_participants SET status = 'removed' WHERE organization_id = ${organizationId}
          AND session_id = ${sessionId} AND student_id <> ALL (${staying}::uuid[]) AND status <> 'removed'`),
      this.db.query(sql`
        INSERT INTO lesson_participants AS p
          (organization_id, id, session_id, student_id, status, rate_cents, rate_given, surcharge_cents, invited_at)
        SELECT ${organizationId}, id, session_id, student_id, 'accepted', rate_cents, rate_given, surcharge_cents, now()
        FROM json_populate_recordset(NULL::lesson_participants, ${JSON.stringify(people)}::json)
        ON CONFLICT (organization_id, session_id, student_id) DO UPDATE SET rate_cents = excluded.rate_cents,
          rate_given = excluded.rate_given, surcharge_cents = excluded.surcharge_cents,
          status = CASE p.status WHEN 'removed' THEN 'accepted' ELSE p.status END`),
    ]);
    await this.followParticipants(organizationId, sessionId);
  }

  /** Sets what the session says of its participants: the only student without a group, and the rate that all have. */
  async followParticipants(organizationId: string, sessionId: string): Promise<void> {
    await this.db.query(sql`
      UPDATE sessions s SET updated_at = now(),
        student_id = CASE WHEN s.group_id IS NULL AND cardinality(p.students) = 1 THEN p.students[1] END,
        student_rate_cents = CASE WHEN p.rates = 1 THEN p.rate END
      FROM (SELECT array_agg(student_id) AS students, count(DISTINCT coalesce(rate_cents, -1)) AS rates, max(rate_cents) AS rate
        FROM lesson_participants
        WHERE organization_id = ${organizationId} AND session_id = ${sessionId} AND status <> 'removed') p
      WHERE s.organization_id = ${organizationId} AND s.id = ${sessionId}`);
  }

  /** Cancels sessions, for everybody who has not declined or been removed. */
  async cancel(organizationId: string, ids: readonly string[], reason: string | null): Promise<void> {
    await Promise.all([
      this.db.query(sql`
        UPDATE sessions SET status = 'cancelled', cancelled_at = now(), cancellation_reason = ${reason}, updated_at = now()
        WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])`),
      this.db.query(sql`
        UPDATE lesson_participants SET status = 'cancelled', cancelled_at = now()
        WHERE organization_id = ${organizationId} AND session_id = ANY (${ids}::uuid[])
          AND ${TAKES_PART}`),
    ]);
  }

  /** @throws Refused if another record names the session */
  async remove(organizationId: string, id: string): Promise<void> {
    try {
      await Promise.all([
        this.db.query(sql`
          INSERT INTO removed_sessions (organization_id, session_id, user_id, starts_at, ends_at, feed_sequence)
          SELECT s.organization_id, s.id, p.user_id, s.starts_at, s.ends_at, s.feed_sequence + 1
          FROM sessions s, LATERAL (SELECT s.tutor_id AS user_id WHERE s.tutor_id IS NOT NULL
            UNION SELECT l.student_id FROM lesson_participants l WHERE l.organization_id = s.organization_id AND l.session_id = s.id
              AND l.status NOT IN ('declined', 'removed')) p
          WHERE s.organization_id = ${organizationId} AND s.id = ${id} AND s.ends_at > now()`),
        this.db.query(
          sql`DELETE FROM lesson_participants WHERE organization_id = ${organizationId} AND session_id = ${id}`,
        ),
        this.db.query(sql`DELETE FROM sessions WHERE organization_id = ${organizationId} AND id = ${id}`),
      ]);
    } catch (error) {
      if (sqlStateOf(error) !== SQLSTATE.foreignKeyViolation) throw error;
      const { table } = driverErrorOf(error) as { table?: string };
      throw Refused.conflict('still_referenced', 'Another record names this session. Cancel it instead.', {
        referenced_by: table,
      });
    }
  }
}

const participantRow = (sessionId: string, { studentId, rateCents, rateGiven, surchargeCents }: ParticipantPrice) => ({
  id: uuidv7(),
  session_id: sessionId,
  student_id: studentId,
  rate_cents: rateCents,
  rate_given: rateGiven,
  surcharge_cents: surchargeCents,
});

/** The second lock holds against writers that do not wait for the calendar, such as an import: the rule looks again. */
async function withoutOverlap(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw sqlStateOf(error) === SQLSTATE.exclusionViolation ? new RetryTransaction() : error;
  }
}
