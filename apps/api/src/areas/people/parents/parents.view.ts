import { cents, instant, integer, like, nullable, texts, UUID, uuid, View } from '../../../http/kit.js';
import { person } from '../people.view.js';

const { first_name, last_name, email, placeholder_email, status } = person('p');

const CHILDREN = `ARRAY(SELECT s.student_id FROM parent_students s WHERE s.organization_id = p.organization_id
  AND s.parent_id = p.user_id ORDER BY s.linked_at, s.student_id)`;

export const parentView = new View('Parent', {
  id: uuid('p.user_id'),
  first_name,
  last_name,
  email,
  placeholder_email,
  status,
  student_ids: texts(CHILDREN, UUID),
  enrolled_at: nullable(instant('p.enrolled_at')),
  created_at: nullable(instant('p.created_at')),
});

/** Requires the sums as `i`. */
export const balanceView = new View('ParentBalance', {
  parent_id: uuid('p.user_id'),
  total_invoiced_cents: like(cents('i.invoiced'), 34000),
  total_paid_cents: like(cents('i.paid'), 25500),
  outstanding_cents: like(cents('i.outstanding'), 8500),
  open_invoices_count: like(integer('i.open', { minimum: 0 }), 1),
});

/** Requires the link as `l`. */
export const parentStudentLinkView = new View('ParentStudentLink', {
  parent_id: uuid('l.parent_id'),
  student_id: uuid('l.student_id'),
  linked_at: nullable(instant('l.linked_at')),
});
