import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import type { ListQuery } from '../../http/lists/list-query.dto.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import type { JsonText } from '../../http/views/json-text.js';
import { balanceView, parentView } from './parents.view.js';

const PARENTS = sql`parents p JOIN users u ON u.id = p.user_id`;

/** What is open or paid of the invoices of a parent's children in the organization. */
const INVOICES = sql`CROSS JOIN LATERAL (
  SELECT coalesce(sum(i.amount_due_cents), 0)::bigint AS invoiced, coalesce(sum(i.amount_paid_cents), 0)::bigint AS paid,
    coalesce(sum(i.amount_due_cents - i.amount_paid_cents) FILTER (WHERE i.status = 'open'), 0)::bigint AS outstanding,
    count(*) FILTER (WHERE i.status = 'open') AS open
  FROM parent_students s JOIN invoices i ON i.organization_id = s.organization_id AND i.student_id = s.student_id
  WHERE s.organization_id = p.organization_id AND s.parent_id = p.user_id AND i.status IN ('open', 'paid')) i`;

/** Parents with at least one child linked in the organization; without one they are invisible. */
@Injectable()
export class ParentsService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListQuery): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: parentView,
        from: PARENTS,
        where: [sql`p.organization_id = ${caller.organizationId}`, sql`p.enrolled_at IS NOT NULL`],
        order: { createdAt: 'p.created_at', id: 'p.user_id' },
        total: true,
      },
      query,
    );
  }

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.lists.record(caller, parentView, PARENTS, this.linked(caller, id));
  }

  getBalance(caller: Caller, id: string): Promise<JsonText> {
    return this.lists.record(caller, balanceView, sql`parents p ${INVOICES}`, this.linked(caller, id));
  }

  private linked(caller: Caller, id: string): Parameters<Lists['record']>[3] {
    return [sql`p.organization_id = ${caller.organizationId}`, sql`p.user_id = ${id}`, sql`p.enrolled_at IS NOT NULL`];
  }
}
