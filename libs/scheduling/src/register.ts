import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, SESSION, VALUES } from '@app/database';
import { Refused } from '@app/rules';
import { OPEN } from './session-changes.js';
import { SessionRows } from './session-rows.js';

type Values = (typeof VALUES)['lesson_participants'];

/** The fields to change; undefined ones stay. */
export interface ParticipantChange {
  status?: Values['status'][number];
  attendance?: Values['attendance'][number] | null;
  /** An hour; null bills nothing. */
  rateCents?: number | null;
}

/** Who takes part in sessions, who came, and what each pays. */
@Injectable()
export class Register {
  constructor(
    private readonly db: Database,
    private readonly rows: SessionRows,
  ) {}

  /** @throws Refused for one of a cancelled session, and for a price once the session is completed */
  async change(
    organizationId: string,
    id: string,
    { status, attendance, rateCents }: ParticipantChange,
  ): Promise<void> {
    const [session] = await this.db.query<{ id: string; status: (typeof SESSION.values)[number] }>(sql`
      SELECT s.id, s.status FROM sessions s
      JOIN lesson_participants p ON p.organization_id = s.organization_id AND p.session_id = s.id
      WHERE p.organization_id = ${organizationId} AND p.id = ${id} FOR UPDATE OF s`);
    if (!session) throw Refused.notFound();
    if (status === undefined && attendance === undefined && rateCents === undefined) return;
    const allowed = rateCents === undefined ? SESSION.values.filter((state) => state !== 'cancelled') : OPEN;
    if (!allowed.includes(session.status)) throw Refused.invalidState(session.status, allowed);
    await this.db.query(sql`
      UPDATE lesson_participants SET
        attendance = CASE WHEN ${attendance !== undefined} THEN ${attendance ?? null} ELSE attendance END,
        rate_cents = CASE WHEN ${rateCents !== undefined} THEN ${rateCents ?? null}::bigint ELSE rate_cents END,
        rate_given = rate_given OR ${rateCents !== undefined},
        responded_at = CASE WHEN ${status ?? null} IN ('accepted', 'declined') AND status <> ${status ?? null} THEN now() ELSE responded_at END,
        cancelled_at = CASE coalesce(${status ?? null}, status) WHEN 'cancelled' THEN coalesce(cancelled_at, now()) END,
        status = coalesce(${status ?? null}, status)
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    if (OPEN.includes(session.status)) await this.rows.followPlaces(organizationId, session.id);
  }
}
