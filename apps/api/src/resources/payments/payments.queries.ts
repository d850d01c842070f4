import { equals, since, until } from '../../http/lists/filters.js';
import { rangeQuery } from '../../http/lists/list-query.dto.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import { QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import { PAYMENT_STATUSES, paymentView } from './payments.view.js';

const Between = rangeQuery({
  from: 'Created at or after this ISO 8601 date or date-time.',
  to: 'Created at or before this ISO 8601 date or date-time; a date includes the whole day.',
});

export class ListPayments extends Between {
  @QueryUuid({ description: 'Only payments for this student.' })
  student_id?: string;

  @QueryUuid({ description: 'Only payments for sessions of this tutor (user id).' })
  tutor_id?: string;

  @QueryEnum(PAYMENT_STATUSES, { description: 'Only payments in this state.' })
  status?: string;
}

export const PAYMENTS: List<ListPayments> = {
  id: 'list_payments',
  summary: 'Lists payments, newest first',
  view: paymentView,
  source: new Source('payments', 'p'),
  select: ({ student_id, tutor_id, status, from, to }) => ({
    filters: [
      equals('student_id', student_id),
      equals('tutor_id', tutor_id),
      equals('status', status),
      since('created_at', from),
      until('created_at', to),
    ],
  }),
};
