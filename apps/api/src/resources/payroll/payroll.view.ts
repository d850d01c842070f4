import { cents, day, flag, instant, nullable, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const adjustmentView = new View('Adjustment', {
  id: uuid('a.id'),
  tutor_id: nullable(uuid('a.tutor_id')),
  period_start: nullable(day('a.period_start')),
  period_end: nullable(day('a.period_end')),
  amount_cents: nullable(cents('a.amount_cents')),
  note: nullable(text('a.note', 'Holiday loading')),
  voided: flag('a.voided'),
  created_at: nullable(instant('a.created_at')),
});
