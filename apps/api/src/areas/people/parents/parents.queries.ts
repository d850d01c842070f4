import sql, { raw } from 'sql-template-tag';
import { sumsOf } from '@app/billing';
import {
  instant, like, list, nullable, type RecordDeclaration, type RecordSet, Source, text, texts, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore
import { SUMS } from '../balance.js';
import { BY_PERSON, totalOf, person } from '../people.view.js';

const { first_name, last_name, email, placeholder_email, status } = person('p');

const CHILDREN = `ARRAY(SELECT s.student_id FROM parent_students s WHERE s.organization_id = p.organization_id
  AND s.parent_id = p.user_id ORDER BY s.linked_at, s.student_id)`;

const parentView = new View('Parent', {
  id: uuid('p.user_id'),
  first_name,
  last_name,
  email,
  placeholder_email,
  status,
  student_ids: texts(CHILDREN, UUID),
  billing_name: like(nullable(text('p.billing_name')), null),
  billing_address: like(nullable(text('p.billing_address')), null),
  enrolled_at: nullable(instant('p.enrolled_at')),
  created_at: nullable(instant('p.created_at')),
});

/** A parent, visible or not: without a child linked in the organization they are invisible. */
export const ANY_PARENT = {
  view: parentView,
  source: new Source('parents', 'p', { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = p.user_id` }),
};
const LINKED = sql`p.enrolled_at IS NOT NULL`;

export const PARENTS = list({
  id: 'list_parents',
  path: 'v1/parents',
  summary: 'Lists parents with a child in the organization, newest first',
  ...ANY_PARENT,
  where: LINKED,
  parameters: BY_PERSON,
  total: totalOf(['parents:enrolled']).total,
  select: (query) => totalOf(['parents:enrolled'], query),
});

export const PARENT: RecordDeclaration = {
  id: 'get_parent',
  path: 'v1/parents/:parent_id',
  summary: 'Returns one parent with the children linked in the organization',
  description: 'A parent without a link in this organization is a 404: link a new one to a child first.',
  ...ANY_PARENT,
  where: LINKED,
};

/** Open and paid amounts of the invoices of a parent's children. */
export const BALANCE: RecordDeclaration = {
  id: 'get_parent_balance',
  path: 'v1/parents/:parent_id/balance',
  summary: 'Sums the open and paid invoices of a parent’s children',
  description:
    'Integer cents in the organization’s currency. `outstanding_cents` is the amount still due on open invoices, ' +
    '`credit_cents` what the parent and the children have paid beyond their invoices.',
  view: new View('ParentBalance', { parent_id: uuid('p.user_id'), ...SUMS }),
  source: new Source('parents', 'p', {
    id: 'user_id',
    joins: sumsOf(
      raw(CHILDREN),
      sql`p.organization_id`,
      raw(`(c.parent_id = p.user_id OR c.student_id = ANY (${CHILDREN}))`),
    ),
  }),
  where: LINKED,
};

/** A parent's link to a student. */
export const linkOf = (parentId: string, studentId: string): RecordSet => ({
  view: parentStudentLinkView,
  source: new Source('parent_students', 'l'),
  where: sql`l.parent_id = ${parentId} AND l.student_id = ${studentId}`,
});

export const parentStudentLinkView = new View('ParentStudentLink', {
  parent_id: uuid('l.parent_id'),
  student_id: uuid('l.student_id'),
  linked_at: nullable(instant('l.linked_at')),
});
