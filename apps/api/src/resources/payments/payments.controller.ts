import { Controller, Query } from '@nestjs/common';
import { CurrentCaller } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { ListRoute } from '../../http/openapi/operation.decorator.js';
import { ListPayments, PAYMENTS } from './payments.queries.js';

@Controller('v1/payments')
export class PaymentsController {
  constructor(private readonly lists: Lists) {}

  @ListRoute(PAYMENTS)
  list(@CurrentCaller() caller: Caller, @Query() query: ListPayments) {
    return this.lists.page(caller, PAYMENTS, query);
  }
}
