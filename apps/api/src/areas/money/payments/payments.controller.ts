import { Controller } from '@nestjs/common';
import {
  type Caller,
  CurrentCaller,
  Documented,
  one,
  PathId,
  Post,
  RequireScopes,
  ValidBody,
} from '../../../http/kit.js';
import { TakeBack } from '../taking-back.js';
import { RecordPayment, RefundPayment } from './payments.dto.js';
import { PAYMENT } from './payments.queries.js';
import { PaymentsService } from './payments.service.js';

@Controller('v1/payments')
export class PaymentsController {
  constructor(private readonly payments: PaymentsService) {}

  @Post()
  @RequireScopes('payments:write')
  @Documented({
    id: 'create_payment',
    summary: 'Records money that was received',
    description:
      'Send exactly one of `student_id` and `parent_id`. The money pays open invoices: first the one that it was sent for, ' +
      'then the oldest due, a parent’s those of all linked children. What is left is credit, which pays what is issued later.',
    answer: one(PAYMENT.view),
    example: {
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      amount_cents: 12000,
      payment_type: 'bank_transfer',
      received_on: '2026-05-01',
    },
    conflicts: ['invalid_state'],
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(RecordPayment) body: RecordPayment) {
    return this.payments.record(caller, body);
  }

  @Post(':payment_id/refund', 200)
  @RequireScopes('payments:write')
  @Documented({
    id: 'refund_payment',
    summary: 'Records money that went back',
    description:
      'It is taken from credit first, then from the invoices that the payment paid last, which are open again. The payment is ' +
      '`refunded` when all of it is back. Imported payments are a 409. Repeat it only with an `Idempotency-Key`.',
    answer: one(PAYMENT.view),
    example: { amount_cents: 4000 },
    conflicts: ['invalid_state'],
  })
  refund(
    @CurrentCaller() caller: Caller,
    @PathId('payment_id') id: string,
    @ValidBody(RefundPayment) body: RefundPayment,
  ) {
    return this.payments.refund(caller, id, body);
  }

  @Post(':payment_id/void', 200)
  @RequireScopes('payments:write')
  @Documented({
    id: 'void_payment',
    summary: 'Takes back a payment that was entered by mistake',
    description:
      'Within 24 hours of recording it, and before any refund: the payment is `canceled`, and what it paid is open again, unless ' +
      'other credit pays it. Imported payments are a 409. Again: unchanged.',
    answer: one(PAYMENT.view),
    example: { reason: 'Typed one zero too many' },
    conflicts: ['invalid_state'],
  })
  void(@CurrentCaller() caller: Caller, @PathId('payment_id') id: string, @ValidBody(TakeBack) body: TakeBack) {
    return this.payments.void(caller, id, body);
  }
}
