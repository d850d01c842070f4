import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, IS_STAFF } from '@app/database';
import { currencyOf } from '../money/approvals.queries.js';
import { nameOf } from '../money/invoices.queries.js';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import { idIn } from '../web/form.js';
import type { Asked } from './booking-form.js';
import type { PersonChoice } from './lessons.queries.js';

const MOST_CLASSES = 25;
const MOST_SUBJECTS = 200;

export interface ClassChoice {
  kind: 'group' | 'classroom';
  id: string;
  name: string;
}

/** What the pages of a booking show. */
@Injectable()
export class BookingService {
  constructor(private readonly db: Database) {}

  /** Groups and classrooms, the newest first. */
  async classes({ organizationId }: Membership): Promise<ClassChoice[]> {
    const live = sql`organization_id = ${organizationId} AND NOT is_archived ORDER BY created_at DESC, id DESC LIMIT ${MOST_CLASSES}`;
    const [groups, classrooms] = await this.db.read<[ClassChoice, ClassChoice]>(
      { organizationId },
      sql`SELECT 'group' AS kind, id, name FROM student_groups WHERE ${live}`,
      sql`SELECT 'classroom' AS kind, id, name FROM classrooms WHERE ${live}`,
    );
    return [...groups, ...classrooms];
  }

  /** Whom a lesson is for and who teaches it, with the subjects. @throws PageError 404 for who cannot be booked */
  async people({ organizationId }: Membership, asked: Asked) {
    const [[who], [tutor], subjects, [organization]] = await this.db.read<
      [PersonChoice, PersonChoice, { id: string; name: string }, { currency: string }]
    >(
      { organizationId },
      whoNamed(organizationId, asked),
      asked.tutor ? memberNamed(organizationId, asked.tutor, IS_STAFF) : NOBODY,
      sql`SELECT id, name FROM subjects WHERE organization_id = ${organizationId} AND NOT is_archived ORDER BY lower(name), name LIMIT ${MOST_SUBJECTS}`,
      currencyOf(organizationId),
    );
    if (!who || (asked.tutor && !tutor)) throw PageError.notFound();
    return { who, tutor: tutor ?? null, subjects, currency: organization!.currency };
  }

  /** The names of students. */
  async names({ organizationId }: Membership, ids: readonly string[]): Promise<Map<string, string | null>> {
    const [people] = await this.db.read<[PersonChoice]>(
      { organizationId },
      sql`SELECT m.user_id AS id, ${nameOf} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ANY (${ids}::uuid[])`,
    );
    return new Map(people.map(({ id, name }) => [id, name]));
  }
}

const NOBODY = sql`SELECT NULL::uuid AS id, NULL AS name WHERE false`;

const memberNamed = (organizationId: string, id: string, which: Sql): Sql => sql`
  SELECT m.user_id AS id, ${nameOf} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = ${organizationId} AND m.user_id = ${idIn(id)} AND m.status = 'accepted' AND m.${which}`;

function whoNamed(organizationId: string, { student, group, classroom }: Asked): Sql {
  const live = (id: string) => sql`organization_id = ${organizationId} AND id = ${idIn(id)} AND NOT is_archived`;
  if (group) return sql`SELECT id, name FROM student_groups WHERE ${live(group)}`;
  if (classroom) return sql`SELECT id, name FROM classrooms WHERE ${live(classroom)}`;
  return memberNamed(organizationId, student, sql`role = 'student'`);
}
