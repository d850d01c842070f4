import { Injectable } from '@nestjs/common';
import { Database, type Page, pageOf, type Position } from '@app/database';
import type { Provisioner } from '@app/people';
import { leadById, type LeadRow } from '../enquiries/enquiries.queries.js';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import type { PeopleFilter } from './people.filter.js';
import {
  type InviteRow,
  invitesPage,
  openCounts,
  peoplePage,
  type PersonRow,
  type RelatedRow,
  relatedTo,
} from './people.queries.js';

/** Rows per page. With their forms, a page stays below 60 kB. */
const ROWS = 25;
/** How many people a search examines per page. Row-level security rules out an index for names and parts of addresses. */
const SEARCHED = 2_000;
/** Above this, the page says "1,000+". */
const MOST_COUNTED = 1_000;

type OpenCounts = Record<'waiting' | 'pending' | 'invites', number>;

/** The people of an organization, to be read by its owners and admins. */
@Injectable()
export class PeopleService {
  constructor(private readonly db: Database) {}

  async people({ organizationId }: Membership, filter: PeopleFilter, after: Position | null) {
    const { search } = filter;
    const [rows, [counts]] = await this.db.read<[PersonRow, OpenCounts]>(
      { organizationId },
      peoplePage(organizationId, filter, after, rowsToRead(search)),
      openCounts(organizationId, MOST_COUNTED),
    );
    const found = matching(rows, search);
    const [related] = await this.db.read<[RelatedRow]>(
      { organizationId },
      relatedTo(
        organizationId,
        found.rows.map(({ id }) => id),
      ),
    );
    const names = new Map(related.map((one) => [one.id, one.names]));
    const people = found.rows.map((row) => ({ ...row, related: names.get(row.id) ?? [] }));
    return { people, next: found.next, counts: counts! };
  }

  async invites({ organizationId }: Membership, ending: boolean, after: Position | null): Promise<Page<InviteRow>> {
    const page = invitesPage(organizationId, ending, after, ROWS + 1);
    const [rows] = await this.db.read<[InviteRow]>({ organizationId }, page);
    return pageOf(rows, ROWS, 'created_at');
  }

  /** Somebody who asked about lessons. @throws PageError 404 */
  async lead({ organizationId }: Membership, id: string): Promise<LeadRow> {
    const [[lead]] = await this.db.read<[LeadRow]>({ organizationId }, leadById(organizationId, id));
    if (!lead) throw PageError.notFound();
    return lead;
  }
}

/** On whose behalf people are added and mailed. */
export function provisionerOf({ organizationId, name, timeZone }: Membership): Provisioner {
  return { organizationId, organization: { name, timeZone }, keyId: null };
}

/** How many rows of people are read for a page: one more than are shown or examined. */
export const rowsToRead = (search: string, most = ROWS): number => (search === '' ? most : SEARCHED) + 1;

/** The rows of a page that match a search. */
export function matching(rows: PersonRow[], search: string, most = ROWS): Page<PersonRow> {
  if (search === '') return pageOf(rows, most, 'created_at');
  const { rows: seen, next } = pageOf(rows, SEARCHED, 'created_at');
  const found = seen.filter((row) => row.found);
  return found.length > most ? pageOf(found, most, 'created_at') : { rows: found, next };
}
