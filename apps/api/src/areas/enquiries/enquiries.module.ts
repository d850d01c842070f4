import { Area } from '../../http/kit.js';
import { BookingRequestsModule } from './booking-requests/booking-requests.module.js';
import { LeadsModule } from './leads/leads.module.js';

/** Who asks for lessons, before there are any. */
@Area({
  imports: [LeadsModule, BookingRequestsModule],
  tags: {
    leads: ['Leads', 'People who have asked about lessons, for example with a form on a website.'],
    'booking-requests': ['Booking requests', 'Lessons that somebody wants, and the tutors who suit them.'],
  },
})
export class EnquiriesModule {}
