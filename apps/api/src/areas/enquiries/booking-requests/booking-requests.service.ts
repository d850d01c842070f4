import { Injectable } from '@nestjs/common';
import { TutorSearch } from '@app/enquiries';
import { BookingRequests } from '@app/scheduling';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { type CreateBookingRequest, lessonOf } from './booking-requests.dto.js';
import { BOOKING_REQUESTS } from './booking-requests.queries.js';

@Injectable()
export class BookingRequestsService {
  constructor(
    private readonly records: Records,
    private readonly requests: BookingRequests,
    private readonly search: TutorSearch,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown student or subject */
  async create(caller: Caller, body: CreateBookingRequest): Promise<JsonText> {
    const id = await this.requests.add(caller.organizationId, lessonOf(body));
    this.audit.note({ booking_request_id: id });
    return this.records.written(caller, BOOKING_REQUESTS, id);
  }

  /** @throws Refused for an unknown request */
  async recommended(caller: Caller, id: string, limit: number) {
    const { subjectId, tutors } = await this.search.recommend(caller, id, limit);
    return {
      request_id: id,
      subject_id: subjectId,
      data: tutors.map((tutor) => ({
        tutor_id: tutor.tutorId,
        first_name: tutor.firstName,
        last_name: tutor.lastName,
        score: tutor.score,
        breakdown: tutor.breakdown,
        reasons: tutor.reasons,
        upcoming_sessions_count: tutor.upcoming,
        teaches_subject: tutor.teaches,
        distance_km: tutor.distanceKm,
        nearby: tutor.nearby,
        road_km: tutor.roadKm,
        road_minutes: tutor.roadMinutes,
      })),
    };
  }
}
