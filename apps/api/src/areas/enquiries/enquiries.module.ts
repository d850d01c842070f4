import { EnquiriesModule as Enquiries } from '@app/enquiries';
import { SchedulingModule } from '@app/scheduling';
import { Area, HttpModule } from '../../http/kit.js';
import { BOOKING_REQUESTS_CONTROLLERS } from './booking-requests/booking-requests.controller.js';
import { LEADS_CONTROLLERS } from './leads/leads.controller.js';

/** Who asks for lessons, before there are any. */
@Area({
  imports: [HttpModule, Enquiries, SchedulingModule],
  controllers: [...LEADS_CONTROLLERS, ...BOOKING_REQUESTS_CONTROLLERS],
  tags: {
    leads: ['Leads', 'People who have asked about lessons, for example with a form on a website.'],
    'booking-requests': ['Booking requests', 'Lessons that somebody wants, and the tutors who suit them.'],
  },
})
export class EnquiriesModule {}
