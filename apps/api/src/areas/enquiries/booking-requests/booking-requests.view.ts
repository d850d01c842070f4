import { MOST } from '@app/enquiries';
import { BOOKING_REQUEST, VALUES } from '@app/database';
import {
  BOOLEAN, instant, integer, jsonb, like, nullable, objectOf, oneOf, orNull, type Shape, text, textLike, texts, UUID, uuid,
  View, withExample,
} from '../../../http/kit.js'; // prettier-ignore

const TIMES = {
  type: 'object',
  additionalProperties: { type: 'array', items: { type: 'string' } },
  description: 'By day, hours on the organization’s clock.',
  examples: [{ monday: ['16:00-18:00'] }],
};

export const bookingRequestView = new View('BookingRequest', {
  id: uuid('b.id'),
  status: nullable(oneOf('b.status', BOOKING_REQUEST.values)),
  subject_id: nullable(uuid('b.subject_id')),
  student_id: nullable(uuid('b.student_id')),
  student_display_name: like(nullable(text('b.student_display_name')), null),
  preferred_mode: nullable(oneOf('b.preferred_mode', VALUES.booking_requests.preferred_mode)),
  preferred_days: texts('b.preferred_days', { type: 'string', examples: ['monday'] }),
  preferred_times: jsonb('b.preferred_times', TIMES),
  duration_minutes: nullable(integer('b.duration_minutes', { minimum: 5, maximum: 720, examples: [60] })),
  message: nullable(text('b.message', 'She has her first assessment in three weeks.')),
  matched_session_id: like(nullable(uuid('b.matched_session_id')), null),
  created_at: nullable(instant('b.created_at')),
  updated_at: nullable(instant('b.updated_at')),
});

const points = (part: keyof typeof MOST, example: number) => {
  return { type: 'number', minimum: 0, maximum: MOST[part], examples: [example] };
};

/** Of a distance, and of the time that it takes. */
const KM = { type: ['number', 'null'], minimum: 0 };
const BY_ROAD = { ...KM, description: 'Null unless it was computed: see `POST /v1/coverage/isochrones/refresh`.' };

export const recommendedTutorShape: Shape = {
  name: 'RecommendedTutor',
  schema: objectOf({
    tutor_id: UUID,
    first_name: orNull(textLike('Sam')),
    last_name: orNull(textLike('Okafor')),
    score: { type: 'number', minimum: 0, maximum: 100, examples: [87], description: 'The sum of the parts.' },
    breakdown: objectOf({
      subject: points('subject', 40),
      availability: points('availability', 13),
      mode: points('mode', 15),
      capacity: points('capacity', 10),
      distance: points('distance', 9),
    }),
    reasons: { type: 'array', items: { type: 'string' }, examples: [['Teaches Mathematical Methods', '4.2 km away']] },
    upcoming_sessions_count: { type: 'integer', minimum: 0, examples: [1] },
    teaches_subject: BOOLEAN,
    distance_km: withExample(KM, 4.2),
    nearby: { ...BOOLEAN, description: 'Whether the tutor teaches where the student lives.' },
    road_km: withExample(BY_ROAD, 5.6),
    road_minutes: withExample(BY_ROAD, 11),
  }),
};

export const recommendedTutorsShape: Shape = {
  name: 'RecommendedTutors',
  schema: objectOf({
    request_id: UUID,
    subject_id: orNull(UUID),
    data: { type: 'array', items: { $ref: `#/components/schemas/${recommendedTutorShape.name}` } },
  }),
};
