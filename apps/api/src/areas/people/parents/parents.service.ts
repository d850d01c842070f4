import { Injectable } from '@nestjs/common';
import { type AccountInvite, AccountInvites, Families, Provisioning } from '@app/people';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { toParent } from '../people.dto.js';
import type { CreateParent } from './parents.dto.js';
import { ANY_PARENT, linkOf } from './parents.queries.js';

@Injectable()
export class ParentsService {
  constructor(
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly families: Families,
    private readonly invites: AccountInvites,
    private readonly audit: Audit,
  ) {}

  /** The parent stays invisible to all reads until it is linked. @throws Refused for a person who cannot be added */
  async create(caller: Caller, body: CreateParent): Promise<{ parent: JsonText; known: boolean }> {
    const { id, created, known } = await this.provisioning.provisionOne(caller, toParent(body));
    this.audit.note({ parent_id: id, created });
    return { parent: await this.records.written(caller, ANY_PARENT, id), known };
  }

  /** @throws ApiError 404 when one of the two does not exist */
  async linkStudent(caller: Caller, id: string, studentId: string): Promise<JsonText> {
    const linked = await this.families.link(caller.organizationId, id, studentId);
    this.audit.note({ parent_id: id, student_id: studentId }, linked);
    return this.records.written(caller, linkOf(id, studentId));
  }

  /** @throws Refused for an unknown parent, and one whom no mail can reach */
  async sendInvite(caller: Caller, id: string): Promise<AccountInvite> {
    const answer = await this.invites.sendToParent(caller, id);
    this.audit.note({ parent_id: id, sent: answer.sent }, answer.sent);
    return answer;
  }
}
