import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import type { ParticipantChange } from '@app/scheduling';
import { field } from '../../../http/kit.js';

const { status, attendance } = VALUES.lesson_participants;

/** Omitted fields stay unchanged. */
export class UpdateParticipant {
  @field.OneOf(status)
  status?: ParticipantChange['status'];

  @field.OneOf(attendance, { nullable: true })
  attendance?: ParticipantChange['attendance'];

  @field.bodyField(FIELDS.lesson_participants.rate_cents, {
    nullable: true,
    description: 'What this student pays for an hour; null bills nothing. Until the session is completed.',
  })
  rate_cents?: number | null;
}
