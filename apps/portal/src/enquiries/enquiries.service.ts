import { Injectable } from '@nestjs/common';
import { Database, type Page, pageOf, type Position } from '@app/database';
import { DAYS as WEEKDAYS, type Recommended, TutorSearch } from '@app/enquiries';
import { dayOf, type Timed } from '@app/scheduling';
import { FreeTimes } from '../lessons/free-times.js';
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

/** How many of them are shown with free times, and how long a lesson is if nobody has said. */
const WITH_TIMES = 3;
const USUAL_MINUTES = 60;

/** Who asks an organization for lessons, to be read by its owners and admins. */
@Injectable()
export class EnquiriesService {
  constructor(
    private readonly db: Database,
    private readonly search: TutorSearch,
    private readonly freeTimes: FreeTimes,
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

  /** A request with the tutors who suit it best, and the first free times of some. @throws PageError 404 */
  async request(
    organization: Membership,
    id: string,
  ): Promise<{ request: RequestRow; tutors: (Recommended & { free: Timed[][] })[] }> {
    const { organizationId, timeZone } = organization;
    const [[request]] = await this.db.read<[RequestRow]>({ organizationId }, requestById(organizationId, id));
    if (!request) throw PageError.notFound();
    const { tutors } = await this.search.recommend({ organizationId }, id, TUTORS);
    const days = request.days.map((day) => WEEKDAYS.findIndex((one) => one === day));
    const wanted = { from: dayOf(new Date(), timeZone), minutes: request.minutes ?? USUAL_MINUTES, days };
    const best = request.status === 'pending' ? tutors.slice(0, WITH_TIMES).map(({ tutorId }) => tutorId) : [];
    const free = best.length > 0 ? await this.freeTimes.of(organization, best, wanted) : [];
    return { request, tutors: tutors.map((tutor, at) => ({ ...tutor, free: free[at] ?? [] })) };
  }
}
