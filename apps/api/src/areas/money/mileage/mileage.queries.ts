import { VALUES } from '@app/database';
import {
  betweenDays, byId, byValue, cents, day, instant, integer, like, list, nullable, number, oneOf, Source, text, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const { status, tracking_method } = VALUES.mileage_trips;

export const MILEAGE = list({
  id: 'list_mileage',
  path: 'v1/mileage',
  summary: 'Lists the trips that tutors claim, newest first',
  view: new View('MileageTrip', {
    id: uuid('t.id'),
    tutor_id: nullable(uuid('t.tutor_id')),
    trip_date: nullable(day('t.trip_date')),
    destination: nullable(text('t.destination', 'Brunswick')),
    distance_km: like(nullable(number('t.distance_km')), 12.5),
    duration_minutes: like(nullable(integer('t.duration_minutes', { minimum: 0 })), 25),
    vehicle: nullable(text('t.vehicle', 'Own car')),
    tracking_method: nullable(oneOf('t.tracking_method', tracking_method)),
    status: nullable(oneOf('t.status', status)),
    rate_cents: like(nullable(cents('t.rate_cents')), 88),
    amount_cents: like(nullable(cents('t.amount_cents')), 1100),
    session_id: nullable(uuid('t.session_id')),
    approved_at: like(nullable(instant('t.approved_at')), null),
    created_at: nullable(instant('t.created_at')),
  }),
  source: new Source('mileage_trips', 't'),
  parameters: [
    byId('tutor_id', 'Only trips of this tutor (user id).'),
    byValue('status', status, 'Only trips in this state; `logged` ones wait for a decision.'),
    ...betweenDays('trip_date', {
      from: 'Only trips on or after this ISO 8601 date.',
      to: 'Only trips on or before this ISO 8601 date.',
    }),
  ],
});
