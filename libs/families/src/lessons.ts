import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { Database, visiblePerson } from '@app/database';
import type { Known } from './decide.js';

/** A lesson as its reader may know it. */
export interface LessonInMail {
  at: Date;
  until: Date;
  subject: string | null;
  /** To a family: the tutor's first name and initial. */
  tutor: string | null;
  /** First names: to a family of their children, to a tutor of those who take part. */
  students: string[];
  mode: string | null;
  url: string | null;
  /** What the place is called, and its suburb: never a street. */
  place: string | null;
}

/** Puts names to what somebody knows of lessons. */
@Injectable()
export class Lessons {
  constructor(private readonly db: Database) {}

  /** In the ambient transaction. @param known as {@link partiesOf} has it; null where there is nothing */
  async named(organizationId: string, reader: string, known: (Known | null)[]): Promise<(LessonInMail | null)[]> {
    const all = known.flatMap((one) => one ?? []);
    const ids = all.flatMap(({ tutor, subject, place, students }) => [tutor, subject, place, ...(students ?? [])]);
    const { first_name: first, last_name: last } = visiblePerson('m');
    const rows = await this.db.query<{ id: string; name: string; initial: string }>(sql`
      SELECT m.user_id AS id, ${raw(first)} AS name, left(${raw(last)}, 1) AS initial FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ANY (${ids}::uuid[])
      UNION ALL SELECT id, concat_ws(', ', label, suburb), '' FROM locations WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])
      UNION ALL SELECT id, name, '' FROM subjects WHERE organization_id = ${organizationId} AND id = ANY (${ids}::uuid[])`);
    const names = new Map(rows.map((row) => [row.id, row]));
    const tutorOf = (id: string) => {
      const { name, initial } = names.get(id) ?? { name: '', initial: '' };
      return name ? `${name}${initial ? ` ${initial}.` : ''}` : null;
    };
    return known.map((one) => {
      if (!one) return null;
      const { at, until, tutor, subject, mode, url, place, students } = one;
      return {
        at: new Date(at),
        until: new Date(until),
        subject: subject && (names.get(subject)?.name ?? null),
        tutor: tutor && tutor !== reader ? tutorOf(tutor) : null,
        students: (students ?? []).filter((id) => id !== reader).flatMap((id) => names.get(id)?.name ?? []),
        mode,
        url,
        place: (place && names.get(place)?.name) || null,
      };
    });
  }
}
