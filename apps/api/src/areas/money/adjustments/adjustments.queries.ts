import {
  betweenDays, byId, cents, day, flag, instant, like, list, nullable, Source, text, toggle, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

export const ADJUSTMENTS = list({
  id: 'list_adjustments',
  path: 'v1/adjustments',
  summary: 'Lists payroll adjustments, newest first',
  description: 'Manual credits and debits that are folded into payroll; a negative amount is a deduction.',
  view: new View('Adjustment', {
    id: uuid('a.id'),
    tutor_id: nullable(uuid('a.tutor_id')),
    period_start: like(nullable(day('a.period_start')), '2026-04-13'),
    period_end: like(nullable(day('a.period_end')), '2026-04-26'),
    amount_cents: nullable(cents('a.amount_cents')),
    note: nullable(text('a.note', 'Holiday loading')),
    voided: like(flag('a.voided'), false),
    created_at: nullable(instant('a.created_at')),
  }),
  source: new Source('adjustments', 'a'),
  parameters: [
    byId('tutor_id', 'Only adjustments for this tutor (user id).'),
    toggle('include_voided', 'Include voided adjustments.', { without: 'voided' }),
    ...betweenDays('period_start', {
      from: 'Only adjustments whose period starts on or after this ISO 8601 date.',
      to: 'Only adjustments whose period starts on or before this ISO 8601 date.',
    }),
  ],
});
