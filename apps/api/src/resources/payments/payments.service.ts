import { Injectable } from '@nestjs/common';
import type { Caller } from '../../http/auth/caller.js';
import { equals, since, until } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Source } from '../../http/lists/source.js';
import type { ListPayments } from './payments.dto.js';
import { paymentView } from './payments.view.js';

const PAYMENTS = new Source('payments', 'p');

@Injectable()
export class PaymentsService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListPayments): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: paymentView,
        source: PAYMENTS,
        filters: [
          equals('p.student_id', query.student_id),
          equals('p.tutor_id', query.tutor_id),
          equals('p.status', query.status),
          since('p.created_at', query.from),
          until('p.created_at', query.to),
        ],
      },
      query,
    );
  }
}
