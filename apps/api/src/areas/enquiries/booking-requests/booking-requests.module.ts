import { Module } from '@nestjs/common';
import { EnquiriesModule } from '@app/enquiries';
import { SchedulingModule } from '@app/scheduling';
import { HttpModule, listController } from '../../../http/kit.js';
import { BookingRequestsController } from './booking-requests.controller.js';
import { BOOKING_REQUESTS } from './booking-requests.queries.js';
import { BookingRequestsService } from './booking-requests.service.js';

@Module({
  imports: [EnquiriesModule, HttpModule, SchedulingModule],
  controllers: [listController(BOOKING_REQUESTS), BookingRequestsController],
  providers: [BookingRequestsService],
})
export class BookingRequestsModule {}
