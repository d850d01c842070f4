import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import type { SessionRow } from './session-rows.js';

/** Where a session takes place. */
export interface Place {
  /** An https address; null for that of the tutor's profile, unless the session is in person. */
  meetingUrl: string | null;
  locationId: string | null;
}

interface Placed {
  tutorId: string | null;
  mode: string | null;
  meetingUrl: string | null;
}

/** Where sessions take place. A link that nobody set is the tutor's, and follows the tutor and the mode. */
@Injectable()
export class Places {
  constructor(private readonly db: Database) {}

  /** @throws Refused for a location of others */
  async of(
    organizationId: string,
    { locationId, meetingUrl, ...session }: Place & { tutorId: string; mode: string | null },
  ): Promise<Pick<SessionRow, 'meeting_url' | 'location_id'>> {
    await this.require(organizationId, locationId);
    const link = meetingUrl ?? (await this.linkOf(organizationId, session));
    return { meeting_url: link, location_id: locationId };
  }

  /** @param change undefined fields stay @returns the columns to write @throws Refused for a location of others */
  async changed(
    organizationId: string,
    session: Placed,
    change: Partial<Place & { tutorId: string; mode: string | null }>,
  ): Promise<Partial<SessionRow>> {
    const { locationId, meetingUrl } = change;
    await this.require(organizationId, locationId ?? null);
    const place = locationId === undefined ? {} : { location_id: locationId };
    if (meetingUrl !== undefined) return { ...place, meeting_url: meetingUrl };
    const { tutorId = session.tutorId, mode = session.mode } = change;
    if (tutorId === session.tutorId && mode === session.mode) return place;
    const [before, after] = await Promise.all([
      this.linkOf(organizationId, session),
      this.linkOf(organizationId, { tutorId, mode }),
    ]);
    return session.meetingUrl === before ? { ...place, meeting_url: after } : place;
  }

  /** Nobody removes it before a session names it. @throws Refused for one of others */
  async require(organizationId: string, locationId: string | null): Promise<void> {
    if (locationId === null) return;
    const found = await this.db.query(
      sql`SELECT FROM locations WHERE organization_id = ${organizationId} AND id = ${locationId} FOR KEY SHARE`,
    );
    if (found.length === 0) throw Refused.notFound();
  }

  /** A session without a mode counts as online. */
  private async linkOf(
    organizationId: string,
    { tutorId, mode }: Pick<Placed, 'tutorId' | 'mode'>,
  ): Promise<string | null> {
    if (mode === 'in_person') return null;
    const [tutor] = await this.db.query<{ link: string | null }>(sql`
      SELECT meeting_url AS link FROM tutor_profiles WHERE organization_id = ${organizationId} AND user_id = ${tutorId}`);
    return tutor?.link ?? null;
  }
}

/** In SQL, the link of sessions `s` once this tutor has them, or nobody. */
export const linkWith = (tutorId: string | null): Sql => sql`CASE
  WHEN s.mode = 'in_person' OR s.meeting_url IS DISTINCT FROM ${linkOf(sql`s.tutor_id`)} THEN s.meeting_url
  ELSE ${linkOf(sql`${tutorId}::uuid`)} END`;

const linkOf = (tutorId: Sql): Sql =>
  sql`(SELECT p.meeting_url FROM tutor_profiles p WHERE p.organization_id = s.organization_id AND p.user_id = ${tutorId})`;
