import { cents, instant, integer, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const sessionView = new View('Session', {
  id: uuid('s.id'),
  status: nullable(oneOf('s.status', ['scheduled', 'completed', 'cancelled'])),
  title: nullable(text('s.title', 'Methods, unit 3')),
  tutor_id: nullable(uuid('s.tutor_id')),
  student_id: nullable(uuid('s.student_id')),
  starts_at: nullable(instant('s.starts_at')),
  ends_at: nullable(instant('s.ends_at')),
  duration_minutes: nullable(integer('s.duration_minutes', { minimum: 1 })),
  tutor_pay_rate_cents: nullable(cents('s.tutor_pay_rate_cents')),
  student_rate_cents: nullable(cents('s.student_rate_cents')),
  amount_owed_cents: nullable(cents('s.amount_owed_cents')),
  mode: nullable(oneOf('s.mode', ['online', 'in_person'])),
  subject_id: nullable(uuid('s.subject_id')),
  created_at: nullable(instant('s.created_at')),
  completed_at: nullable(instant('s.completed_at')),
});
