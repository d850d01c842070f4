import { Injectable } from '@nestjs/common';
import { Database, type Page, pageOf, type Position } from '@app/database';
import { type Recommendations, TutorSearch } from '@app/enquiries';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import {
  leadById,
  type LeadRow,
  leadsPage,
  requestById,
  type RequestRow,
  requestsPage,
  staffFor,
  type StaffRow,
} from './enquiries.queries.js';

/** Rows of a page: with their forms, it stays below 60 kB. */
const ROWS = 20;

/** How many tutors a request shows. */
const TUTORS = 10;

/** Who asks an organization for lessons, to be read by its owners and admins. */
@Injectable()
export class EnquiriesService {
  constructor(
    private readonly db: Database,
    private readonly search: TutorSearch,
  ) {}

  async leadsOf({ organizationId }: Membership, status: string | null, after: Position | null): Promise<Page<LeadRow>> {
    const [rows] = await this.db.read<[LeadRow]>(
      { organizationId },
      leadsPage(organizationId, status, after, ROWS + 1),
    );
    return pageOf(rows, ROWS, 'created_at');
  }

  /** An enquiry, and who could look after it. @throws PageError 404 */
  async lead({ organizationId }: Membership, id: string): Promise<{ lead: LeadRow; staff: StaffRow[] }> {
    const [[lead], staff] = await this.db.read<[LeadRow, StaffRow]>(
      { organizationId },
      leadById(organizationId, id),
      staffFor(organizationId, id),
    );
    if (!lead) throw PageError.notFound();
    return { lead, staff };
  }

  async requestsOf({ organizationId }: Membership, status: string | null, after: Position | null) {
    const page = requestsPage(organizationId, status, after, ROWS + 1);
    const [rows] = await this.db.read<[RequestRow]>({ organizationId }, page);
    return pageOf(rows, ROWS, 'created_at');
  }

  /** A request with the tutors who suit it best. @throws PageError 404 */
  async request(
    { organizationId }: Membership,
    id: string,
  ): Promise<Pick<Recommendations, 'tutors'> & { request: RequestRow }> {
    const [[request]] = await this.db.read<[RequestRow]>({ organizationId }, requestById(organizationId, id));
    if (!request) throw PageError.notFound();
    const { tutors } = await this.search.recommend({ organizationId }, id, TUTORS);
    return { request, tutors };
  }
}
