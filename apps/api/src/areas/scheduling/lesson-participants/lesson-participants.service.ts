import { Injectable } from '@nestjs/common';
import { Completion } from '@app/billing';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import type { UpdateParticipant } from './lesson-participants.dto.js';
import { PARTICIPANT } from './lesson-participants.queries.js';

@Injectable()
export class LessonParticipantsService {
  constructor(
    private readonly records: Records,
    private readonly completion: Completion,
    private readonly audit: Audit,
  ) {}

  async update(caller: Caller, id: string, body: UpdateParticipant): Promise<JsonText> {
    const { status, attendance, rate_cents: rateCents } = body;
    await this.completion.correct(caller.organizationId, id, { status, attendance, rateCents });
    this.audit.note({ participant_id: id });
    return this.records.written(caller, PARTICIPANT, id);
  }
}
