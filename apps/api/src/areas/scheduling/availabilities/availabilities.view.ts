import {
  day, INSTANT, instant, integer, like, nullable, objectOf, orNull, type Shape, text, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

export const availabilityView = new View('Availability', {
  id: uuid('a.id'),
  tutor_id: nullable(uuid('a.tutor_id')),
  day_of_week: nullable(integer('a.day_of_week', { minimum: 0, maximum: 6, examples: [1] })),
  start_time: nullable(text('a.start_time', '16:00')),
  end_time: nullable(text('a.end_time', '20:30')),
  timezone: nullable(text('a.timezone', 'Australia/Melbourne')),
  schedule_id: like(nullable(uuid('NULL::uuid')), null),
  created_at: nullable(instant('a.created_at')),
});

export const timeOffView = new View('TimeOff', {
  id: uuid('f.id'),
  starts_on: like(day('f.starts_on'), '2026-09-19'),
  ends_on: like(day('f.ends_on'), '2026-10-04'),
  note: nullable(text('f.note', 'School holidays')),
});

const DAY = { type: 'string', format: 'date', examples: ['2026-05-01'] };

/** An hour's lesson on the evening of 1 May 2026 in Melbourne. */
const slot = objectOf({
  starts_at: { ...INSTANT, examples: ['2026-05-01T06:00:00.000Z'] },
  ends_at: { ...INSTANT, examples: ['2026-05-01T07:00:00.000Z'] },
});

export const availableSlotsShape: Shape = {
  name: 'AvailableSlots',
  schema: objectOf({
    tutor_id: UUID,
    duration_minutes: { type: 'integer', minimum: 5, maximum: 720, examples: [60] },
    from_date: DAY,
    to_date: DAY,
    slots: { type: 'array', items: slot, description: 'In order. They overlap: booking one may take several away.' },
  }),
};

export const nextSlotShape: Shape = {
  name: 'NextSlot',
  schema: objectOf({
    tutor_id: UUID,
    duration_minutes: { type: 'integer', minimum: 5, maximum: 720, examples: [60] },
    starts_at: orNull({ ...INSTANT, examples: ['2026-05-01T06:00:00.000Z'] }),
    ends_at: orNull({ ...INSTANT, examples: ['2026-05-01T07:00:00.000Z'] }),
  }),
};
