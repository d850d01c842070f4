import { field } from '../../../http/kit.js';

/** How much of an expense is approved. */
export class ApproveExpense {
  @field.Cents(0, 1_000_000_000_000, {
    nullable: true,
    description: 'At most what was claimed; all of it, unless given.',
  })
  approved_amount_cents?: number | null;
}
