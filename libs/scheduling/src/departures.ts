import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, TAKES_PART } from '@app/database';
import { Calendar } from './calendar.js';
import { overlapping, type Timed } from './overlap.js';
import { HandOvers } from './hand-overs.js';
import { linkWith } from './places.js';
import { OPEN } from './session-changes.js';
import { SessionRows } from './session-rows.js';

/** What becomes of the sessions that a tutor has yet to begin. */
export type SessionsAhead = { do: 'hand_over'; to: string } | { do: 'unassign' } | { do: 'cancel' };

/** What became of them, as numbers. Those that the other tutor has no time for are among the unassigned. */
export interface SessionsLeft {
  handedOver: number;
  unassigned: number;
  cancelled: number;
}

interface Ahead extends Timed {
  id: string;
}

/** What becomes of sessions when somebody leaves. Sessions that have begun stay as they are. */
@Injectable()
export class Departures {
  constructor(
    private readonly db: Database,
    private readonly calendar: Calendar,
    private readonly rows: SessionRows,
    private readonly handOvers: HandOvers,
  ) {}

  /** Locks the sessions ahead of these people, before anybody waits for the people themselves. */
  async lock(organizationId: string, userIds: string[]): Promise<void> {
    await this.ahead(organizationId, sql`${taught(organizationId, userIds)} UNION ${learned(organizationId, userIds)}`);
  }

  /** @param ahead the other tutor is accepted staff, whom the caller has locked */
  async ofTutor(organizationId: string, userId: string, ahead: SessionsAhead): Promise<SessionsLeft> {
    const sessions = await this.ahead(organizationId, taught(organizationId, [userId]));
    await this.db.query(sql`
      UPDATE session_series SET tutor_id = ${ahead.do === 'hand_over' ? ahead.to : null}, updated_at = now()
      WHERE organization_id = ${organizationId} AND tutor_id = ${userId}`);
    if (ahead.do === 'cancel') return { ...NONE, cancelled: await this.cancel(organizationId, sessions) };
    const handedOver = ahead.do === 'hand_over' ? await this.handOver(organizationId, ahead.to, sessions) : new Set();
    const rest = sessions.filter(({ id }) => !handedOver.has(id)).map(({ id }) => id);
    await this.db.query(sql`
      UPDATE sessions s SET tutor_id = NULL, status = 'pending', overlap_allowed = false, meeting_url = ${linkWith(null)},
        updated_at = now() WHERE organization_id = ${organizationId} AND id = ANY (${rest}::uuid[])`);
    return { ...NONE, handedOver: handedOver.size, unassigned: rest.length };
  }

  /** The student no longer takes part; a session in which nobody else does is cancelled. */
  async ofStudent(organizationId: string, userId: string): Promise<SessionsLeft> {
    const sessions = await this.ahead(organizationId, learned(organizationId, [userId]));
    const ids = sessions.map(({ id }) => id);
    const others = await this.db.query<{ session_id: string }>(sql`
      SELECT DISTINCT session_id FROM lesson_participants WHERE organization_id = ${organizationId}
        AND session_id = ANY (${ids}::uuid[]) AND student_id <> ${userId}
        AND ${TAKES_PART}`);
    const shared = new Set(others.map(({ session_id: id }) => id));
    await this.db.query(sql`
      UPDATE lesson_participants SET status = 'cancelled', cancelled_at = now() WHERE organization_id = ${organizationId}
        AND student_id = ${userId} AND session_id = ANY (${[...shared]}::uuid[])
        AND ${TAKES_PART}`);
    const alone = sessions.filter(({ id }) => !shared.has(id));
    return { ...NONE, cancelled: await this.cancel(organizationId, alone) };
  }

  /** Locked, in the order of their ids. */
  private ahead(organizationId: string, which: Sql): Promise<Ahead[]> {
    return this.db.query<Ahead>(sql`
      SELECT id, starts_at AS "startsAt", ends_at AS "endsAt" FROM sessions
      WHERE organization_id = ${organizationId} AND starts_at > now() AND status = ANY (${OPEN}) AND id IN (${which})
      ORDER BY id FOR UPDATE`);
  }

  /** Those at times when the other tutor is free; prices and pay become those of the other tutor. @returns their ids */
  private async handOver(organizationId: string, to: string, sessions: readonly Ahead[]): Promise<Set<string>> {
    if (sessions.length === 0) return new Set();
    const days = new Map<number, Timed[]>();
    const dayOf = ({ startsAt }: Timed) => Math.floor(startsAt.getTime() / DAY_MS);
    const take = (time: Timed) => days.set(dayOf(time), [...(days.get(dayOf(time)) ?? []), time]);
    for (const session of await this.calendar.lock(organizationId, to, sessions)) take(session);
    const free = sessions.filter((session) => {
      // Two of them may overlap each other. No session takes longer than a day.
      const near = [-1, 0, 1].flatMap((by) => days.get(dayOf(session) + by) ?? []);
      if (overlapping(session, near).length > 0) return false;
      take(session);
      return true;
    });
    const ids = free.map(({ id }) => id);
    await this.handOvers.give(organizationId, ids, to);
    return new Set(ids);
  }

  private async cancel(organizationId: string, sessions: readonly Ahead[]): Promise<number> {
    await this.rows.cancel(
      organizationId,
      sessions.map(({ id }) => id),
      null,
    );
    return sessions.length;
  }
}

const DAY_MS = 86_400_000;

const taught = (organizationId: string, userIds: string[]): Sql =>
  sql`SELECT id FROM sessions WHERE organization_id = ${organizationId} AND tutor_id = ANY (${userIds}::uuid[]) AND starts_at > now()`;

/** Imported sessions may name their student without a place. */
const learned = (organizationId: string, userIds: string[]): Sql => sql`
  SELECT id FROM sessions WHERE organization_id = ${organizationId} AND student_id = ANY (${userIds}::uuid[])
  UNION SELECT session_id FROM lesson_participants WHERE organization_id = ${organizationId}
    AND student_id = ANY (${userIds}::uuid[]) AND ${TAKES_PART}`;

const NONE: SessionsLeft = { handedOver: 0, unassigned: 0, cancelled: 0 };
