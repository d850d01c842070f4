import { equals, since, until } from '../../http/lists/filters.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import type { ListPayments } from './payments.dto.js';
import { paymentView } from './payments.view.js';

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
