import { Completion } from '@app/billing';
import { changeOf, listController, recordController, writeController } from '../../../http/kit.js';
import { UpdateParticipant } from './lesson-participants.dto.js';
import { PARTICIPANT, PARTICIPANTS } from './lesson-participants.queries.js';

export const LESSON_PARTICIPANTS_CONTROLLERS = [
  listController(PARTICIPANTS),
  recordController(PARTICIPANT),
  writeController({
    id: 'update_lesson_participant',
    route: 'PATCH /v1/lesson-participants/:participant_id',
    scope: 'sessions:write',
    summary: 'Records the attendance of a participant, their status, or their price',
    description:
      'Omitted fields stay unchanged. Once the session is completed, the price is fixed, and the participant’s line on the ' +
      'draft follows attendance and status; when that has been issued, it is a 409, like a cancelled session.',
    example: { attendance: 'attended' },
    conflicts: ['invalid_state'],
    body: UpdateParticipant,
    rules: [Completion],
    answers: PARTICIPANT,
    versions: PARTICIPANT,
    // Sessions are locked before their participants.
    first: ({ organizationId, ids }, completion) => completion.lock(organizationId, ids.participant_id),
    run: ({ organizationId, ids, body }, completion) =>
      completion.correct(organizationId, ids.participant_id, changeOf(body)),
  }),
];
