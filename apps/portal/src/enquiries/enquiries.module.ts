import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { Env } from '@app/config';
import { BOOKING_REQUEST, LEAD, type Position } from '@app/database';
import { EnquiriesModule as EnquiryRules, followingStatuses, Leads } from '@app/enquiries';
import { FIELDS } from '@app/fields';
import { BookingRequests, dayOf, SchedulingModule } from '@app/scheduling';
import { LessonsModule } from '../lessons/lessons.module.js';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { readFields } from '../web/read-field.js';
import { answered, type Errors, namesake } from '../web/answered.js';
import { EnquiriesService } from './enquiries.service.js';

type Query = Record<string, unknown>;

/** Who asks for lessons: leads, and booking requests with the tutors who suit them. */
@Controller('o/:slug/enquiries')
@ForManagers()
class EnquiriesController {
  constructor(
    private readonly enquiries: EnquiriesService,
    private readonly operations: FormOperations,
    private readonly rules: Leads,
    private readonly bookings: BookingRequests,
    private readonly env: Env,
  ) {}

  @Get()
  @InNavigation('Enquiries')
  async leads(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    const { status, after } = asked(LEAD.values, query);
    const { rows, next } = await this.enquiries.leadsOf(organization, status, after);
    return page('enquiries/leads', { leads: rows, ...paging(LEAD.values, status, after, next) });
  }

  @Get('leads/:lead_id')
  lead(@Managing() organization: Managed, @Param('lead_id') id: string): Promise<Page> {
    return this.leadPage(organization, pathId(id));
  }

  @Get('requests')
  @InNavigation('Enquiries', 'Booking requests', 1)
  async requests(@Managing() organization: Managed, @Query() query: Query): Promise<Page> {
    const { status, after } = asked(BOOKING_REQUEST.values, query);
    const { rows, next } = await this.enquiries.requestsOf(organization, status, after);
    return page('enquiries/requests', { requests: rows, ...paging(BOOKING_REQUEST.values, status, after, next) });
  }

  @Get('requests/:request_id')
  async request(@Managing() organization: Managed, @Param('request_id') id: string): Promise<Page> {
    const found = await this.enquiries.request(organization, pathId(id));
    return page('enquiries/request', { ...found, day: (at: Date) => dayOf(at, organization.timeZone) });
  }

  @Post('leads/:lead_id')
  changeLead(@Managing() organization: Managed, @Param('lead_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, slug, form } = organization;
    const ids = { lead_id: pathId(id) };
    const [status, assignedTutorId] = [
      LEAD.values.find((one) => one === form.text('status')),
      form.id('assigned_tutor_id'),
    ];
    if (!status) throw PageError.badForm();
    const change = async () => {
      const { staff_notes: staffNotes } = readFields(form, this.env, {}, { staff_notes: FIELDS.leads.staff_notes });
      const changed = await this.rules.change(organizationId, ids.lead_id, { status, assignedTutorId, staffNotes });
      return { changed, audit: { status } };
    };
    return answered(
      this.operations.perform(organization, 'PATCH /v1/leads/:lead_id', ids, change),
      { back: `/o/${slug}/enquiries/leads/${ids.lead_id}`, done: 'It was saved.' },
      (errors) => this.leadPage(organization, ids.lead_id, errors),
      namesake,
    );
  }

  private async leadPage(organization: Managed, id: string, errors: Errors | null = null): Promise<Page> {
    const { lead, staff } = await this.enquiries.lead(organization, id);
    const notes = errors ? organization.form.text('staff_notes') : lead.staff_notes;
    const data = { lead, staff, notes, errors: errors ?? {}, following: followingStatuses(lead.status) };
    return page('enquiries/lead', data, errors ? 422 : 200);
  }

  @Post('requests/:request_id')
  changeRequest(@Managing() organization: Managed, @Param('request_id') id: string): Promise<SeeOther> {
    const ids = { booking_request_id: pathId(id) };
    const { organizationId, slug, form } = organization;
    const action = (['decline', 'reopen'] as const).find((one) => one === form.text('action'));
    if (!action) throw PageError.badForm();
    const shown = `/o/${slug}/enquiries/requests/${ids.booking_request_id}`;
    const change = () => this.bookings.change(organizationId, ids.booking_request_id, action);
    const done = action === 'decline' ? 'The request was declined.' : 'The request waits for a booking again.';
    return this.operations.answer(organization, `${action} booking request`, ids, change, shown, done);
  }
}

/** What a list's address asks for. Invalid values are ignored. */
function asked<Status extends string>(statuses: readonly Status[], { status, after }: Query) {
  return { status: statuses.find((one) => one === status) ?? null, after: readPosition(after) };
}

const currentOf = (status: string | null, after: Position | null): string =>
  queryOf({ status, after: after && positionText(after) });

function paging(
  statuses: readonly string[],
  status: string | null,
  after: Position | null,
  next: Position | null,
): object {
  return {
    statuses,
    status,
    isFirst: after === null,
    first: currentOf(status, null),
    next: next && currentOf(status, next),
  };
}

@Module({
  imports: [EnquiryRules, LessonsModule, SchedulingModule],
  controllers: [EnquiriesController],
  providers: [EnquiriesService],
})
export class EnquiriesModule {}
