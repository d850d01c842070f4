import { Injectable } from '@nestjs/common';
import { type AccountInvite, AccountInvites, MemberProfiles, Provisioning } from '@app/people';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { toStudent } from '../people.dto.js';
import type { CreateStudent, UpdateStudent } from './students.dto.js';
import { STUDENTS } from './students.queries.js';

@Injectable()
export class StudentsService {
  constructor(
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly profiles: MemberProfiles,
    private readonly invites: AccountInvites,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for a person who cannot be added */
  async create(caller: Caller, body: CreateStudent): Promise<{ student: JsonText; known: boolean }> {
    const { id, created, invited, known } = await this.provisioning.provisionOne(caller, toStudent(body));
    this.audit.note({ student_id: id, created, invited });
    return { student: await this.written(caller, id), known };
  }

  /** @throws Refused for an unknown student or rate band, and at fields that this organization may not change */
  async update(caller: Caller, id: string, body: UpdateStudent): Promise<JsonText> {
    const { first_name: firstName, last_name: lastName, email, phone, rate_band_id: rateBandId } = body;
    const change = { firstName, lastName, email, phone: phone === '' ? null : phone };
    await this.profiles.changeStudent(caller, id, change, rateBandId);
    this.audit.note({ student_id: id });
    return this.written(caller, id);
  }

  /** @throws Refused for an unknown student, and one whom no mail can reach */
  async sendInvite(caller: Caller, id: string): Promise<AccountInvite> {
    const answer = await this.invites.sendToStudent(caller, id);
    this.audit.note({ student_id: id, sent: answer.sent }, answer.sent);
    return answer;
  }

  private written(caller: Caller, id: string): Promise<JsonText> {
    return this.records.written(caller, STUDENTS, id);
  }
}
