import { Injectable } from '@nestjs/common';
import { Provisioning, TutorProfiles } from '@app/people';
import { Audit, type Caller, given, type JsonText, Records, requireHeld } from '../../../http/kit.js';
import { toTutor } from '../people.dto.js';
import type { CreateTutor, UpdateTutor } from './tutors.dto.js';
import { STAFF } from './tutors.queries.js';

@Injectable()
export class TutorsService {
  constructor(
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly profiles: TutorProfiles,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for a person who cannot be added */
  async create(caller: Caller, body: CreateTutor): Promise<{ tutor: JsonText; known: boolean }> {
    const { id, created, invited, known } = await this.provisioning.provisionOne(caller, toTutor(body));
    this.audit.note({ tutor_id: id, created, invited });
    return { tutor: await this.records.written(caller, STAFF, id), known };
  }

  /** @throws ApiError 403 for another name of an owner or admin without `accounts:write`; Refused for an unknown person or subject, and at fields that cannot be changed */
  async update(caller: Caller, id: string, body: UpdateTutor): Promise<JsonText> {
    const change = given(body);
    await this.profiles.change(caller, id, change, () => requireHeld(caller, ['tutors:write', 'accounts:write']));
    this.audit.note({ tutor_id: id });
    return this.records.written(caller, STAFF, id);
  }
}
