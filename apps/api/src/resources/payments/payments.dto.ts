import { ListQuery } from '../../http/lists/list-query.dto.js';
import { QueryDate, QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import type { DateBound } from '../../http/validation/parsers.js';
import { PAYMENT_STATUSES } from './payments.view.js';

export class ListPayments extends ListQuery {
  @QueryUuid({ description: 'Only payments for this student.' })
  student_id?: string;

  @QueryUuid({ description: 'Only payments for sessions of this tutor (user id).' })
  tutor_id?: string;

  @QueryEnum(PAYMENT_STATUSES, { description: 'Only payments in this state.' })
  status?: string;

  @QueryDate({ description: 'Created at or after this ISO 8601 date or date-time.' })
  from?: DateBound;

  @QueryDate({ description: 'Created at or before this ISO 8601 date or date-time; a date counts whole.' })
  to?: DateBound;
}
