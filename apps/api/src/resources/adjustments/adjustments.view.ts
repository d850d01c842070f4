import { cents, day, flag, instant, like, nullable, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const adjustmentView = new View('Adjustment', {
  id: uuid('a.id'),
  tutor_id: nullable(uuid('a.tutor_id')),
  period_start: like(nullable(day('a.period_start')), '2026-04-13'),
  period_end: like(nullable(day('a.period_end')), '2026-04-26'),
  amount_cents: nullable(cents('a.amount_cents')),
  note: nullable(text('a.note', 'Holiday loading')),
  voided: like(flag('a.voided'), false),
  created_at: nullable(instant('a.created_at')),
});
