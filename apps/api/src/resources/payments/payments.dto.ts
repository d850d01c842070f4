import { rangeQuery } from '../../http/lists/list-query.dto.js';
import { QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import { PAYMENT_STATUSES } from './payments.view.js';

const Between = rangeQuery({
  from: 'Created at or after this ISO 8601 date or date-time.',
  to: 'Created at or before this ISO 8601 date or date-time; a date counts whole.',
});

export class ListPayments extends Between {
  @QueryUuid({ description: 'Only payments for this student.' })
  student_id?: string;

  @QueryUuid({ description: 'Only payments for sessions of this tutor (user id).' })
  tutor_id?: string;

  @QueryEnum(PAYMENT_STATUSES, { description: 'Only payments in this state.' })
  status?: string;
}
