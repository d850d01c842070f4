import { Injectable } from '@nestjs/common';
import { Rooms } from '@app/people';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import type { CreateClassroom } from './classrooms.dto.js';
import { CLASSROOMS } from './classrooms.queries.js';

@Injectable()
export class ClassroomsService {
  constructor(
    private readonly records: Records,
    private readonly rooms: Rooms,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown tutor or subject, and for a tutor who is a student */
  async create(caller: Caller, body: CreateClassroom): Promise<JsonText> {
    const { name, tutor_id, subject_id, price_cents, billing_interval } = body;
    const id = await this.rooms.openClassroom(caller, {
      name,
      tutorId: tutor_id ?? null,
      subject: subject_id ?? null,
      priceCents: price_cents ?? null,
      billingInterval: billing_interval ?? null,
    });
    this.audit.note({ classroom_id: id });
    return this.records.written(caller, CLASSROOMS, id);
  }
}
