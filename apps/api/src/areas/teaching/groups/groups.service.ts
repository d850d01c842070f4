import { Injectable } from '@nestjs/common';
import { Rooms } from '@app/people';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import type { CreateGroup } from './groups.dto.js';
import { GROUPS } from './groups.queries.js';

@Injectable()
export class GroupsService {
  constructor(
    private readonly records: Records,
    private readonly rooms: Rooms,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown person, classroom or subject, and for people with another role */
  async create(caller: Caller, body: CreateGroup): Promise<JsonText> {
    const { name, tutor_id, classroom_id, subject_id, rate_per_student_cents, color, student_ids } = body;
    const id = await this.rooms.openGroup(caller, {
      name,
      tutorId: tutor_id ?? null,
      classroomId: classroom_id ?? null,
      subject: subject_id ?? null,
      ratePerStudentCents: rate_per_student_cents ?? null,
      color: color ?? null,
      studentIds: student_ids,
    });
    this.audit.note({ group_id: id, student_ids });
    return this.records.written(caller, GROUPS, id);
  }
}
