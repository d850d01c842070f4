import { adjustmentFaults } from '@app/billing';
import { FIELDS } from '@app/fields';
import { Fault, field, type Interdependent, TOGETHER } from '../../../http/kit.js';

/** A correction of what a tutor earned. */
export class CreateAdjustment implements Interdependent {
  @field.Uuid({ required: true, description: 'A tutor, admin or owner (user id), archived ones too.' })
  tutor_id: string;

  @field.Day({ required: true, description: 'The first day of the pay period. The adjustment counts on this day.' })
  period_start: string;

  @field.Day({ required: true, description: 'The last day of the pay period.' })
  period_end: string;

  @field.bodyField(FIELDS.adjustments.amount_cents, { required: true, description: 'Negative for a deduction; not 0.' })
  amount_cents: number;

  @field.bodyField(FIELDS.adjustments.note, { nullable: true })
  note?: string | null;

  [TOGETHER](): Fault[] {
    const { period_start, period_end, amount_cents: amountCents } = this;
    const areDays = typeof period_start === 'string' && typeof period_end === 'string';
    const [periodStart, periodEnd] = areDays ? [period_start, period_end] : ['', ''];
    const faults = adjustmentFaults({ periodStart, periodEnd, amountCents });
    return faults.map(({ at, reason }) => new Fault('value_error', reason, at));
  }
}
