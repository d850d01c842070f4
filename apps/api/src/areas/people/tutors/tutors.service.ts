import { Injectable } from '@nestjs/common';
import { Provisioning } from '@app/people';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { refusedPerson, toTutor } from '../people.dto.js';
import type { CreateTutor } from './tutors.dto.js';
import { STAFF } from './tutors.queries.js';

@Injectable()
export class TutorsService {
  constructor(
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly audit: Audit,
  ) {}

  /** @throws ValidationFailed when the person is refused */
  async create(caller: Caller, body: CreateTutor): Promise<JsonText> {
    const [outcome] = await this.provisioning.provision(caller, [toTutor(body)]);
    if (outcome!.status === 'error') throw refusedPerson([outcome!.refusal]);
    const { id, created, invited } = outcome!;
    this.audit.note({ tutor_id: id, created, invited });
    return this.records.written(caller, STAFF, id);
  }
}
