import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { ListPayments } from './payments.dto.js';
import { PaymentsService } from './payments.service.js';
import { paymentView } from './payments.view.js';

@Controller('v1/payments')
export class PaymentsController {
  constructor(private readonly payments: PaymentsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({ id: 'list_payments', summary: 'Lists payments, newest first', answer: page(paymentView) })
  list(@CurrentCaller() caller: Caller, @Query() query: ListPayments) {
    return this.payments.list(caller, query);
  }
}
