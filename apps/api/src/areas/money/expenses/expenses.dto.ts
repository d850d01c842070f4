import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';

/** How much of an expense is approved. */
export class ApproveExpense {
  @field.bodyField(FIELDS.expense_claims.approved_amount_cents, {
    nullable: true,
    description: 'At most what was claimed; all of it, unless given.',
  })
  approved_amount_cents?: number | null;
}
