import sql from 'sql-template-tag';
import { inSlices } from '@app/concurrency';
import { Database, idOf, IS_STAFF } from '@app/database';
import { teach } from '@app/enquiries';
import { calendarsOf, type DaysOff, slotsOfAll, type Timed, type WeeklyHours } from '@app/scheduling';
import {
  BOOLEAN, days, INSTANT, kinds, objectOf, one, orDefault, parameter, queryOf, readController, required, type Shape, UUID,
} from '../../http/kit.js'; // prettier-ignore
import { MOST_DAYS, reachOf } from './tutor-calendars.js';

/** Slots of one answer. */
const MOST_SLOTS = 2_000;

const DAY = { type: 'string', format: 'date', examples: ['2026-05-01'] };

const shape: Shape = {
  name: 'OpenSlots',
  schema: objectOf({
    duration_minutes: { type: 'integer', minimum: 5, maximum: 720, examples: [60] },
    from_date: DAY,
    to_date: DAY,
    slots: {
      type: 'array',
      items: objectOf({
        tutor_id: UUID,
        starts_at: { ...INSTANT, examples: ['2026-05-01T06:00:00.000Z'] },
        ends_at: { ...INSTANT, examples: ['2026-05-01T07:00:00.000Z'] },
      }),
      description: `By their start, at most ${MOST_SLOTS}. They overlap: booking one may take several away.`,
    },
    complete: { ...BOOLEAN, description: 'False if there are more: ask for fewer days.' },
  }),
};

class OpenSlotsQuery extends queryOf([
  required(
    parameter(
      'subject_id',
      { ...kinds.idOrCode, schema: { ...kinds.idOrCode.schema, examples: ['mathematical_methods'] } },
      'Only tutors who teach this subject, by its id or code.',
    ),
  ),
  ...days(MOST_DAYS, { from: 'The first day.', to: `The last day, at most ${MOST_DAYS} days later.` }),
  parameter(
    'mode',
    kinds.oneOf(['online', 'in_person']),
    'Only tutors who teach this way, or have not said how they do.',
  ),
  orDefault(parameter('duration_minutes', kinds.integer(5, 720), 'Minutes of a lesson.'), 60),
]) {}

/** When a lesson in a subject could be booked, with whoever teaches it. */
export const AVAILABLE_SLOTS = readController({
  id: 'list_available_slots',
  path: 'v1/available-slots',
  summary: 'Returns when anybody who teaches a subject can be booked',
  description:
    'The slots of all accepted tutors who teach it, as `GET /v1/tutors/{tutor_id}/available-slots` has those of one; for a website’s ' +
    '“find a time”.',
  query: OpenSlotsQuery,
  answer: one(shape),
  rules: [Database],
  async run({ caller, query: { subject_id, mode = null, from, to, duration_minutes: duration } }, db) {
    const { organizationId } = caller;
    const reach = reachOf(caller, from, to);
    const tutors = sql`SELECT m.user_id AS id FROM members m
      LEFT JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
      WHERE m.organization_id = ${organizationId} AND m.status = 'accepted' AND m.${IS_STAFF}
        AND ${teach(organizationId, idOf('subjects', organizationId, subject_id))}
        AND (${mode}::text IS NULL OR t.teaching_mode IS NULL OR t.teaching_mode IN (${mode}, 'both'))`;
    type Of<T> = T & { tutorId: string };
    const [rules, busy, timeOff] = await db.read<[Of<WeeklyHours>, Of<Timed>, Of<DaysOff>]>(
      caller,
      ...calendarsOf(organizationId, sql`IN (${tutors})`, reach),
    );
    const [hours, taken, off] = [rules, busy, timeOff].map((rows) =>
      Map.groupBy(rows as Of<object>[], ({ tutorId }) => tutorId),
    );
    const common = { from: reach.first, to: reach.last, duration, now: new Date(), zone: caller.organization.timeZone };
    const calendars = [...hours!].map(([tutorId, own]) => ({
      ...common,
      tutorId,
      rules: own as Of<WeeklyHours>[],
      busy: (taken!.get(tutorId) ?? []) as Of<Timed>[],
      timeOff: (off!.get(tutorId) ?? []) as Of<DaysOff>[],
    }));
    const found = await inSlices(slotsOfAll(calendars, MOST_SLOTS + 1));
    return {
      ...{ duration_minutes: duration, from_date: reach.first, to_date: reach.last },
      slots: found.slice(0, MOST_SLOTS).map(({ tutorId, startsAt, endsAt }) => ({
        ...{ tutor_id: tutorId, starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() },
      })),
      complete: found.length <= MOST_SLOTS,
    };
  },
});
