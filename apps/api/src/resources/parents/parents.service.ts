import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { AccountInvites, Families, Provisioning } from '@app/accounts';
import type { Caller } from '../../http/auth/caller.js';
import type { ListQuery } from '../../http/lists/list-query.dto.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Records } from '../../http/lists/records.js';
import { Source } from '../../http/lists/source.js';
import { refusedPerson, toParent } from '../../people/people.dto.js';
import { type AccountInviteSent, sentOrRefused } from '../../people/account-invite.js';
import type { JsonText } from '../../http/views/json-text.js';
import { Audit } from '../../http/writes/audit.js';
import type { CreateParent } from './parents.dto.js';
import { balanceView, parentStudentLinkView, parentView } from './parents.view.js';

const PARENTS = new Source('parents', 'p', { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = p.user_id` });
const LINKS = new Source('parent_students', 'l');
const LINKED = sql`p.enrolled_at IS NOT NULL`;

/** Open and paid amounts of the invoices of a parent's children. */
const BALANCES = new Source('parents', 'p', {
  joins: sql`CROSS JOIN LATERAL (
  SELECT coalesce(sum(i.amount_due_cents), 0)::bigint AS invoiced, coalesce(sum(i.amount_paid_cents), 0)::bigint AS paid,
    coalesce(sum(i.amount_due_cents - i.amount_paid_cents) FILTER (WHERE i.status = 'open'), 0)::bigint AS outstanding,
    count(*) FILTER (WHERE i.status = 'open') AS open
  FROM parent_students s JOIN invoices i ON i.organization_id = s.organization_id AND i.student_id = s.student_id
  WHERE s.organization_id = p.organization_id AND s.parent_id = p.user_id AND i.status IN ('open', 'paid')) i`,
});

/** Parents with at least one child linked in the organization; without one they are invisible. */
@Injectable()
export class ParentsService {
  constructor(
    private readonly lists: Lists,
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly families: Families,
    private readonly invites: AccountInvites,
    private readonly audit: Audit,
  ) {}

  list(caller: Caller, query: ListQuery): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: parentView,
        source: PARENTS,
        filters: [LINKED],
        total: ['parents:enrolled'],
      },
      query,
    );
  }

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.records.get(caller, parentView, PARENTS, sql`p.user_id = ${id}`, LINKED);
  }

  getBalance(caller: Caller, id: string): Promise<JsonText> {
    return this.records.get(caller, balanceView, BALANCES, sql`p.user_id = ${id}`, LINKED);
  }

  /** The parent stays invisible to all reads until it is linked. @throws ValidationFailed when the values cannot be */
  async create(caller: Caller, body: CreateParent): Promise<JsonText> {
    const [outcome] = await this.provisioning.provision(caller, [toParent(body)]);
    if (outcome!.status === 'error') throw refusedPerson([outcome!.refusal]);
    const { id, created } = outcome!;
    this.audit.note({ parent_id: id, created });
    return this.records.written(caller, parentView, PARENTS, sql`p.user_id = ${id}`);
  }

  /** @throws ApiError 404 when one of the two is not there */
  async linkStudent(caller: Caller, id: string, studentId: string): Promise<JsonText> {
    await this.families.link(caller.organizationId, id, studentId);
    this.audit.note({ parent_id: id, student_id: studentId });
    const link = [sql`l.parent_id = ${id}`, sql`l.student_id = ${studentId}`];
    return this.records.written(caller, parentStudentLinkView, LINKS, ...link);
  }

  /** @throws ApiError 404; ValidationFailed when no mail can reach the parent */
  async sendInvite(caller: Caller, id: string): Promise<AccountInviteSent> {
    const answer = sentOrRefused(await this.invites.sendToParent(caller, id), 'parent_id');
    this.audit.note({ parent_id: id, sent: answer.sent });
    return answer;
  }
}
