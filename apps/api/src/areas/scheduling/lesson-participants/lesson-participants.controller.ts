import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, Patch, PathId, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { UpdateParticipant } from './lesson-participants.dto.js';
import { PARTICIPANT } from './lesson-participants.queries.js';
import { LessonParticipantsService } from './lesson-participants.service.js';

@Controller('v1/lesson-participants')
export class LessonParticipantsController {
  constructor(private readonly participants: LessonParticipantsService) {}

  @Patch(':participant_id')
  @RequireScopes('sessions:write')
  @Documented({
    id: 'update_lesson_participant',
    summary: 'Records the attendance of a participant, their status, or their price',
    description:
      'Omitted fields stay unchanged. Once the session is completed, the price is fixed, and the participant’s line on the ' +
      'draft follows attendance and status; when that has been issued, it is a 409, like a cancelled session.',
    answer: one(PARTICIPANT.view),
    example: { attendance: 'attended' },
    conflicts: ['invalid_state'],
  })
  update(
    @CurrentCaller() caller: Caller,
    @PathId('participant_id') id: string,
    @ValidBody(UpdateParticipant) body: UpdateParticipant,
  ) {
    return this.participants.update(caller, id, body);
  }
}
