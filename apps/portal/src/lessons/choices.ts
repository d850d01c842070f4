import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import { readFilter } from '../people/people.filter.js';
import { peoplePage, type PersonRow } from '../people/people.queries.js';
import { matching, rowsToRead } from '../people/people.service.js';
import type { Membership } from '../web/sessions.js';
import type { PersonChoice } from './lessons.queries.js';

/** How many people are offered to choose from. */
const OFFERED = 25;

/** Whom a lesson can be with, found by name. */
@Injectable()
export class Choices {
  constructor(private readonly db: Database) {}

  /** Accepted people, the newest first. @param search part of a name or address; empty for all */
  async people({ organizationId }: Membership, role: 'student' | 'tutor', search: string) {
    // Of all, as an index has them: few have left or not come yet.
    const filter = readFilter({ role, search });
    const query = peoplePage(organizationId, filter, null, rowsToRead(filter.search, OFFERED));
    const [rows] = await this.db.read<[PersonRow]>({ organizationId }, query);
    const { rows: found, next } = matching(rows, filter.search, OFFERED);
    const accepted = found.filter(({ status }) => status === 'accepted');
    const people = accepted.map(({ id, first_name: first, last_name: last }): PersonChoice => {
      return { id, name: [first, last].filter(Boolean).join(' ') || null };
    });
    return { people, more: next !== null };
  }
}
