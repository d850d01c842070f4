import { Injectable } from '@nestjs/common';
import { AccountInvites, Provisioning, StudentProfiles } from '@app/people';
import { ApiError, Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { refusedPerson, toStudent } from '../people.dto.js';
import { type AccountInviteSent, sentOrRefused } from '../account-invite.js';
import type { CreateStudent, UpdateStudent } from './students.dto.js';
import { STUDENTS } from './students.queries.js';

@Injectable()
export class StudentsService {
  constructor(
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly profiles: StudentProfiles,
    private readonly invites: AccountInvites,
    private readonly audit: Audit,
  ) {}

  /** @throws ValidationFailed when the person is refused */
  async create(caller: Caller, body: CreateStudent): Promise<JsonText> {
    const [outcome] = await this.provisioning.provision(caller, [toStudent(body)]);
    if (outcome!.status === 'error') throw refusedPerson([outcome!.refusal]);
    this.audit.note({ student_id: outcome!.id, created: outcome!.created, invited: outcome!.invited });
    return this.written(caller, outcome!.id);
  }

  /** @throws ApiError 404; ValidationFailed for fields that this organization may not change */
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
    return this.records.written(caller, STUDENTS, id);
  }
}
