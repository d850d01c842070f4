import { Controller, Get } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, RequireScopes, ValidBody, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateBookingRequest, RecommendedQuery } from './booking-requests.dto.js';
import { BookingRequestsService } from './booking-requests.service.js';
import { bookingRequestView, recommendedTutorShape, recommendedTutorsShape } from './booking-requests.view.js';

@Controller('v1/booking-requests')
export class BookingRequestsController {
  constructor(private readonly requests: BookingRequestsService) {}

  @Post()
  @RequireScopes('leads:write')
  @Documented({
    id: 'create_booking_request',
    summary: 'Records that somebody wants a lesson',
    description:
      'For a student, or for somebody who is known by a name alone. It stays `pending` until a session is booked with its id ' +
      'as `booking_request_id`.',
    answer: one(bookingRequestView),
    example: {
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      subject_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      preferred_mode: 'in_person',
      preferred_days: ['monday', 'thursday'],
      preferred_times: { monday: ['16:00-18:00'] },
      duration_minutes: 60,
      message: 'She has her first assessment in three weeks.',
    },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateBookingRequest) body: CreateBookingRequest) {
    return this.requests.create(caller, body);
  }

  @Get(':request_id/recommended-tutors')
  @RequireScopes('read')
  @Documented({
    id: 'get_recommended_tutors',
    summary: 'Recommends tutors for a booking request',
    description:
      'The best first, with up to 100 points: 40 for the subject, 25 for the share of the preferred days on which the weekly hours ' +
      'have room for the lesson, 15 for online or in person as wished, 10 for few sessions ahead (half of them at 20), and 10 for ' +
      'living near (none beyond 50 km). For those who do not teach the subject, the other parts count half; they come last.',
    answer: { ...one(recommendedTutorsShape), shapes: [recommendedTutorShape, recommendedTutorsShape] },
  })
  recommended(
    @CurrentCaller() caller: Caller,
    @PathId('request_id') id: string,
    @ValidQuery(RecommendedQuery) { limit }: RecommendedQuery,
  ) {
    return this.requests.recommended(caller, id, limit);
  }
}
