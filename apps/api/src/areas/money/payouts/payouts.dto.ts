import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';

/** Money that a tutor was paid outside of this service. */
export class CreatePayout {
  @field.Uuid({ required: true, description: 'A tutor, admin or owner (user id), archived ones too.' })
  tutor_id: string;

  @field.bodyField(FIELDS.payouts.amount_cents, { required: true, description: 'In the organization’s currency.' })
  amount_cents: number;

  @field.Uuid({
    nullable: true,
    description: 'If it pays for one session: a completed one of this tutor that no other payout pays for.',
  })
  session_id?: string | null;

  @field.Instant({ nullable: true, description: 'When it was paid, not in the future; now, unless given.' })
  paid_at?: Date | null;
}
