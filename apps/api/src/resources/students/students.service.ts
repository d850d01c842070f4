import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { AccountInvites, Provisioning, StudentProfiles } from '@app/accounts';
import type { Caller } from '../../http/auth/caller.js';
import { ApiError } from '../../http/errors/api-error.js';
import type { ListQuery } from '../../http/lists/list-query.dto.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Records } from '../../http/lists/records.js';
import { Source } from '../../http/lists/source.js';
import { refusedPerson, toStudent } from '../../people/people.dto.js';
import { type AccountInviteSent, sentOrRefused } from '../../people/account-invite.js';
import type { JsonText } from '../../http/views/json-text.js';
import { Audit } from '../../http/writes/audit.js';
import type { CreateStudent, UpdateStudent } from './students.dto.js';
import { studentView } from './students.view.js';

const STUDENTS = new Source('members', 'm', { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = m.user_id` });

@Injectable()
export class StudentsService {
  constructor(
    private readonly lists: Lists,
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly profiles: StudentProfiles,
    private readonly invites: AccountInvites,
    private readonly audit: Audit,
  ) {}

  list(caller: Caller, query: ListQuery): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: studentView,
        source: STUDENTS,
        filters: [sql`m.role = 'student'`],
        total: ['members:student'],
      },
      query,
    );
  }

  /** @throws ValidationFailed when the values cannot be */
  async create(caller: Caller, body: CreateStudent): Promise<JsonText> {
    const [outcome] = await this.provisioning.provision(caller, [toStudent(body)]);
    if (outcome!.status === 'error') throw refusedPerson([outcome!.refusal]);
    this.audit.note({ student_id: outcome!.id, created: outcome!.created, invited: outcome!.invited });
    return this.written(caller, outcome!.id);
  }

  /** @throws ApiError 404; ValidationFailed for what is not this organization's to change */
  async update(caller: Caller, id: string, body: UpdateStudent): Promise<JsonText> {
    const { first_name: firstName, last_name: lastName, email, phone } = body;
    const change = { firstName, lastName, email, phone: phone === '' ? null : phone };
    const changed = await this.profiles.change(caller, id, change);
    if (changed.status === 'refused') throw refusedPerson(changed.refusals, 'student_id');
    if (changed.status === 'absent') throw ApiError.notFound();
    this.audit.note({ student_id: id, fields: Object.keys(body) });
    return this.written(caller, id);
  }

  /** @throws ApiError 404; ValidationFailed when no mail can reach the student */
  async sendInvite(caller: Caller, id: string): Promise<AccountInviteSent> {
    const answer = sentOrRefused(await this.invites.sendToStudent(caller, id), 'student_id');
    this.audit.note({ student_id: id, sent: answer.sent });
    return answer;
  }

  private written(caller: Caller, id: string): Promise<JsonText> {
    return this.records.written(caller, studentView, STUDENTS, sql`m.user_id = ${id}`);
  }
}
