import { BOOKING_REQUEST } from '@app/database';
import { byIdOrCode, byValue, list, type RecordDeclaration, Source } from '../../../http/kit.js';
import { bookingRequestView } from './booking-requests.view.js';

export const BOOKING_REQUESTS = list({
  id: 'list_booking_requests',
  path: 'v1/booking-requests',
  summary: 'Lists booking requests, newest first',
  description: 'Lessons that somebody wants: a student, or somebody who is known by a name alone.',
  view: bookingRequestView,
  source: new Source('booking_requests', 'b'),
  parameters: [
    byValue('status', BOOKING_REQUEST.values, 'Only requests with this status.'),
    byIdOrCode('subject_id', 'subjects', 'Only requests for this subject, by its id or code.'),
  ],
});

export const BOOKING_REQUEST_RECORD: RecordDeclaration = {
  id: 'get_booking_request',
  path: 'v1/booking-requests/:request_id',
  summary: 'Returns one booking request',
  view: BOOKING_REQUESTS.view,
  source: BOOKING_REQUESTS.source,
};
