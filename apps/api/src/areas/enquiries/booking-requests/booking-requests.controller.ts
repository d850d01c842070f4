import { TutorSearch } from '@app/enquiries';
import { BookingRequests } from '@app/scheduling';
import { listController, one, readController, recordController, writeController } from '../../../http/kit.js';
import {
  CreateBookingRequest,
  lessonOf,
  RecommendedQuery,
  UpdateBookingRequest,
  wishesOf,
} from './booking-requests.dto.js';
import { BOOKING_REQUEST_RECORD, BOOKING_REQUESTS } from './booking-requests.queries.js';
import { recommendedTutorShape, recommendedTutorsShape } from './booking-requests.view.js';

export const BOOKING_REQUESTS_CONTROLLERS = [
  listController(BOOKING_REQUESTS),
  recordController(BOOKING_REQUEST_RECORD),
  writeController({
    id: 'create_booking_request',
    route: 'POST /v1/booking-requests',
    scope: 'leads:write',
    summary: 'Records that somebody wants a lesson',
    description:
      'For a student, or for somebody who is known by a name alone. It stays `pending` until a session is booked with its id ' +
      'as `booking_request_id`.',
    example: {
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      subject_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      preferred_mode: 'in_person',
      preferred_days: ['monday', 'thursday'],
      preferred_times: { monday: ['16:00-18:00'] },
      duration_minutes: 60,
      message: 'She has her first assessment in three weeks.',
    },
    body: CreateBookingRequest,
    rules: [BookingRequests],
    answers: BOOKING_REQUESTS,
    idName: 'booking_request_id',
    run: ({ organizationId, body }, requests) => requests.add(organizationId, lessonOf(body)),
  }),
  writeController({
    id: 'update_booking_request',
    route: 'PATCH /v1/booking-requests/:request_id',
    scope: ['leads:write', 'read'],
    summary: 'Declines a booking request, lets it wait again, or corrects what is wished for',
    description:
      'Omitted fields stay unchanged. `pending` lets a declined, expired or matched request wait again; the session of a matched ' +
      'one stays. Wishes can be changed while the request is, or becomes, pending; otherwise 409.',
    example: { preferred_days: ['tuesday'], preferred_times: { tuesday: ['17:00-19:00'] }, duration_minutes: 90 },
    body: UpdateBookingRequest,
    rules: [BookingRequests],
    answers: BOOKING_REQUEST_RECORD,
    versions: BOOKING_REQUEST_RECORD,
    first: ({ organizationId, ids }, requests) => requests.lockStudentOf(organizationId, ids.request_id),
    idName: 'booking_request_id',
    conflicts: ['invalid_state'],
    async run({ organizationId, ids, body }, requests) {
      return { changed: await requests.patch(organizationId, ids.request_id, body.status, wishesOf(body)) };
    },
  }),
  readController({
    id: 'get_recommended_tutors',
    path: 'v1/booking-requests/:request_id/recommended-tutors',
    summary: 'Recommends tutors for a booking request',
    description:
      'The best first, with up to 100 points: 40 for the subject, 25 for the share of the preferred days on which the weekly hours ' +
      'have room for the lesson, 15 for online or in person as wished, 10 for few sessions ahead (half of them at 20), and 10 for ' +
      'living near (none beyond 50 km). For those who do not teach the subject, the other parts count half; they come last.',
    query: RecommendedQuery,
    answer: { ...one(recommendedTutorsShape), shapes: [recommendedTutorShape, recommendedTutorsShape] },
    rules: [TutorSearch],
    async run({ caller, ids, query }, search) {
      const { subjectId, tutors } = await search.recommend(caller, ids.request_id, query.limit);
      return {
        request_id: ids.request_id,
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
    },
  }),
];
