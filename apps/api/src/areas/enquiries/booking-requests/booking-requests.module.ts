import { Module } from '@nestjs/common';
import { EnquiriesModule } from '@app/enquiries';
import { SchedulingModule } from '@app/scheduling';
import { HttpModule, listController } from '../../../http/kit.js';
import { BOOKING_REQUEST_WRITES, RECOMMENDED_TUTORS } from './booking-requests.controller.js';
import { BOOKING_REQUESTS } from './booking-requests.queries.js';

@Module({
  imports: [EnquiriesModule, HttpModule, SchedulingModule],
  controllers: [listController(BOOKING_REQUESTS), ...BOOKING_REQUEST_WRITES, RECOMMENDED_TUTORS],
})
export class BookingRequestsModule {}
