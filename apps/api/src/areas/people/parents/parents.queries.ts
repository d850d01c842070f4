import sql from 'sql-template-tag';
import { type List, Source } from '../../../http/kit.js';
import { parentView } from './parents.view.js';

export const LINKED = sql`p.enrolled_at IS NOT NULL`;

/** Parents with at least one child linked in the organization; without one they are invisible. */
export const PARENTS: List = {
  id: 'list_parents',
  path: 'v1/parents',
  summary: 'Lists parents with a child in the organization, newest first',
  view: parentView,
  source: new Source('parents', 'p', { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = p.user_id` }),
  total: ['parents:enrolled'],
  select: () => ({ filters: [LINKED] }),
};

export const LINKS = new Source('parent_students', 'l');

/** Open and paid amounts of the invoices of a parent's children. */
export const BALANCES = new Source('parents', 'p', {
  joins: sql`CROSS JOIN LATERAL (
  SELECT coalesce(sum(i.amount_due_cents), 0)::bigint AS invoiced, coalesce(sum(i.amount_paid_cents), 0)::bigint AS paid,
    coalesce(sum(i.amount_due_cents - i.amount_paid_cents) FILTER (WHERE i.status = 'open'), 0)::bigint AS outstanding,
    count(*) FILTER (WHERE i.status = 'open') AS open
  FROM parent_students s JOIN invoices i ON i.organization_id = s.organization_id AND i.student_id = s.student_id
  WHERE s.organization_id = p.organization_id AND s.parent_id = p.user_id AND i.status IN ('open', 'paid')) i`,
});
