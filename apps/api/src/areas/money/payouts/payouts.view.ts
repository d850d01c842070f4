import { objectOf, orNull, type Schema, type Shape, UUID } from '../../../http/kit.js';

const DAY: Schema = { type: 'string', format: 'date', examples: ['2026-05-01'] };
const cents = (example: number): Schema => ({ type: 'integer', examples: [example] });

export const earningsShape: Shape = {
  name: 'TutorEarnings',
  schema: objectOf({
    tutor_id: UUID,
    sessions_count: { type: 'integer', minimum: 0, examples: [2] },
    period_start: { ...orNull(DAY), description: 'The day of `from` in the organization’s time zone.' },
    period_end: { ...orNull(DAY), examples: ['2026-05-31'], description: 'The day of `to`.' },
    earned_cents: cents(8773),
    paid_out_cents: cents(7500),
    unpaid_cents: { ...cents(1273), description: 'What was earned and not paid out; negative if more was paid out.' },
  }),
};
