import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { Database, MOST_CENTS, type SESSION, takesPart, type VALUES } from '@app/database';
import { Refused } from '@app/rules';
import { heldCurrency } from './currency.js';
import { billOf, payOf, type PayTerms, type ParticipantRates } from './amounts.js';

type Values = (typeof VALUES)['lesson_participants'];

/** The most that a lesson can cost or pay, in cents. */
const MOST = BigInt(MOST_CENTS);

export type Attendance = Values['attendance'][number];

/** A student in a lesson, with their price. */
export interface Participant extends ParticipantRates {
  id: string;
  studentId: string;
  status: Values['status'][number];
  attendance: Attendance | null;
  /** What was billed; null unless the lesson was completed here. */
  billedCents: bigint | null;
}

/** A session as far as it is billed. */
export interface Lesson {
  id: string;
  status: (typeof SESSION.values)[number];
  startsAt: Date;
  /** Who teaches it; one who has left since is still paid. */
  tutorId: string | null;
  /** What was charged for cancelling it, in percent. */
  chargedPct: number;
  minutes: bigint;
  /** What the lines of invoices say of it. */
  description: string;
  pay: PayTerms;
  /** In the order of their students. */
  participants: Participant[];
}

interface Row {
  id: string;
  status: Lesson['status'];
  starts_at: Date;
  tutor_id: string | null;
  charged: number;
  duration_minutes: number;
  subject: string | null;
  zone: string;
  pay: string | null;
  pct: string | null;
}

type ParticipantRow = Omit<Participant, 'rateCents' | 'surchargeCents' | 'billedCents'> & Record<'rate' | 'surcharge' | 'billed', string | null>; // prettier-ignore

/** Reads lessons with their prices, and writes what they cost. */
@Injectable()
export class Lessons {
  constructor(private readonly db: Database) {}

  /** Waits for the session, and locks it until the end of the ambient transaction. @throws Refused for an unknown one */
  lock(organizationId: string, sessionId: string): Promise<Lesson> {
    return this.find(organizationId, sql`s.id = ${sessionId}`);
  }

  /** The same for the session of a participant. */
  lockOf(organizationId: string, participantId: string): Promise<Lesson> {
    const session = sql`SELECT session_id FROM lesson_participants WHERE organization_id = ${organizationId} AND id = ${participantId}`;
    return this.find(organizationId, sql`s.id = (${session})`);
  }

  private async find(organizationId: string, which: Sql): Promise<Lesson> {
    const [row] = await this.db.query<Row>(sql`
      SELECT s.id, s.status, s.starts_at, s.tutor_id, s.charged_pct AS charged, s.duration_minutes, j.name AS subject, o.time_zone AS zone,
        s.tutor_pay_rate_cents AS pay, s.tutor_pay_pct::text AS pct
      FROM sessions s JOIN organizations o ON o.id = s.organization_id
      LEFT JOIN subjects j ON j.organization_id = s.organization_id AND j.id = s.subject_id
      WHERE s.organization_id = ${organizationId} AND ${which} FOR UPDATE OF s`);
    if (!row) throw Refused.notFound();
    const { pay, pct } = row;
    return {
      id: row.id,
      status: row.status,
      startsAt: row.starts_at,
      tutorId: row.tutor_id,
      chargedPct: row.charged,
      minutes: BigInt(row.duration_minutes),
      description: described(row),
      // A numeric(5, 2) without its point is hundredths.
      pay: { rateCents: centsOf(pay), hundredths: centsOf(pct?.replace('.', '') ?? null) },
      participants: await this.participants(organizationId, row.id),
    };
  }

  async participants(organizationId: string, sessionId: string): Promise<Participant[]> {
    const rows = await this.db.query<ParticipantRow>(sql`
      SELECT id, student_id AS "studentId", status, attendance, rate_cents AS rate, surcharge_cents AS surcharge, billed_cents AS billed
      FROM lesson_participants WHERE organization_id = ${organizationId} AND session_id = ${sessionId} ORDER BY student_id`);
    return rows.map(({ rate, surcharge, billed, ...participant }) => ({
      ...participant,
      rateCents: centsOf(rate),
      surchargeCents: centsOf(surcharge),
      billedCents: centsOf(billed),
    }));
  }

  /** Writes who came and what each is billed. */
  async writeParticipants(organizationId: string, participants: readonly Participant[]): Promise<void> {
    const rows = participants.map(({ id, attendance, billedCents }) => ({
      id,
      attendance,
      billed_cents: written(billedCents),
    }));
    await this.db.query(sql`
      UPDATE lesson_participants p SET attendance = n.attendance, billed_cents = n.billed_cents
      FROM json_populate_recordset(NULL::lesson_participants, ${JSON.stringify(rows)}::json) n
      WHERE p.organization_id = ${organizationId} AND p.id = n.id`);
  }

  /**
   * Writes what the session comes to; null if nothing was settled. Before the participants, none of whom pays more.
   *
   * @param also what else to set, with a comma behind it: another UPDATE would write to nearly all indexes again
   * @throws Refused for more than an amount can be, as prices of imported sessions may give
   */
  async writeTotals(
    organizationId: string,
    id: string,
    { owed, pay, also = empty }: { owed: bigint | null; pay: bigint | null; also?: Sql },
  ): Promise<void> {
    if ((owed ?? 0n) > MOST) throw Refused.invalid('The lesson would cost more than 10,000,000,000.00.');
    if ((pay ?? 0n) > MOST) throw Refused.invalid('The tutor’s pay would be more than 10,000,000,000.00.');
    await heldCurrency(this.db, organizationId);
    await this.db.query(sql`
      UPDATE sessions SET ${also} amount_owed_cents = ${written(owed)}::bigint, tutor_pay_cents = ${written(pay)}::bigint, updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ${id}`);
  }
}

/** What a participant is billed for a completed lesson. */
export function billAt(participant: Participant, { minutes }: Pick<Lesson, 'minutes'>): bigint {
  return isBilled(participant) ? billOf(participant, minutes) : 0n;
}

export function payAt({ pay, minutes }: Lesson, participants: readonly Participant[]): bigint {
  return payOf(pay, participants.filter(isBilled), minutes);
}

export const isBilled = (participant: Pick<Participant, 'status' | 'attendance'>): boolean =>
  takesPart(participant) && participant.attendance !== 'excused';

export const owedFor = (participants: readonly Participant[]): bigint =>
  participants.reduce((sum, { billedCents }) => sum + (billedCents ?? 0n), 0n);

const centsOf = (stored: string | null): bigint | null => (stored === null ? null : BigInt(stored));
const written = (cents: bigint | null): string | null => (cents === null ? null : String(cents));

function described({ subject, starts_at: startsAt, duration_minutes: minutes, zone }: Row): string {
  const day = new Intl.DateTimeFormat('en-AU', { dateStyle: 'long', timeZone: zone }).format(startsAt);
  return `${subject ? `${subject} lesson` : 'Lesson'} on ${day}, ${minutes} minutes`;
}
