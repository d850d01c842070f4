import sql from 'sql-template-tag';
import { sumsOf } from '@app/billing';
import { billingParent } from '@app/people';
import {
  flag, instant, like, list, nullable, type RecordDeclaration, Source, text, texts, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore
import { SUMS } from '../balance.js';
import { BY_PERSON, totalOf, person } from '../people.view.js';

const { first_name, last_name, email, placeholder_email, status } = person('m');

const PARENTS = `ARRAY(SELECT s.parent_id FROM parent_students s WHERE s.organization_id = m.organization_id
  AND s.student_id = m.user_id ORDER BY s.linked_at, s.parent_id)`;

const studentView = new View('Student', {
  id: uuid('m.user_id'),
  first_name,
  last_name,
  email,
  placeholder_email,
  status,
  parent_ids: texts(PARENTS, UUID),
  rate_band_id: like(nullable(uuid('m.rate_band_id')), null),
  billing_parent_id: like(nullable(uuid(`(${billingParent('m')})`)), null),
  bills_self: like(nullable(flag('m.bills_self')), false),
  billing_name: like(nullable(text('m.billing_name')), null),
  billing_address: like(nullable(text('m.billing_address')), null),
  created_at: nullable(instant('m.created_at')),
});

export const STUDENTS = list({
  id: 'list_students',
  path: 'v1/students',
  summary: 'Lists the organization’s students, newest first',
  description: 'Students with any `status`. A `pending` student shows only what the organization supplied.',
  view: studentView,
  source: new Source('members', 'm', { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = m.user_id` }),
  where: sql`m.role = 'student'`,
  parameters: BY_PERSON,
  total: totalOf(['members:student']).total,
  select: (query) => totalOf(['members:student'], query),
});

/** Open and paid amounts of a student's invoices. */
export const STUDENT_BALANCE: RecordDeclaration = {
  id: 'get_student_balance',
  path: 'v1/students/:student_id/balance',
  summary: 'Sums the open and paid invoices of a student',
  description:
    'As for a parent, also for a student who has left. `credit_cents` is what is left of the student’s own payments; a parent’s ' +
    'is in that parent’s balance.',
  view: new View('StudentBalance', { student_id: uuid('m.user_id'), ...SUMS }),
  source: new Source('members', 'm', {
    id: 'user_id',
    joins: sumsOf(sql`ARRAY[m.user_id]`, sql`m.organization_id`, sql`c.student_id = m.user_id`),
  }),
  where: STUDENTS.where,
};
