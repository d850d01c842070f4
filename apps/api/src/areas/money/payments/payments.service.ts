import { Injectable } from '@nestjs/common';
import { TakenBackNotices } from '@app/accounts';
import { Payments } from '@app/billing';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import type { TakeBack } from '../taking-back.js';
import { type RecordPayment, receivedBy, type RefundPayment } from './payments.dto.js';
import { PAYMENT } from './payments.queries.js';

@Injectable()
export class PaymentsService {
  constructor(
    private readonly records: Records,
    private readonly payments: Payments,
    private readonly notices: TakenBackNotices,
    private readonly audit: Audit,
  ) {}

  async record(caller: Caller, body: RecordPayment): Promise<JsonText> {
    return this.written(caller, await this.payments.record(caller.organizationId, receivedBy(body)));
  }

  async refund(caller: Caller, id: string, { amount_cents: cents }: RefundPayment): Promise<JsonText> {
    await this.payments.refund(caller.organizationId, id, cents);
    this.audit.note({ refunded_cents: cents });
    return this.written(caller, id);
  }

  async void(caller: Caller, id: string, { reason }: TakeBack): Promise<JsonText> {
    const voided = await this.payments.void(caller.organizationId, id, reason);
    if (voided) await this.notices.tell(caller.organizationId);
    return this.written(caller, id, voided);
  }

  private written(caller: Caller, id: string, changed = true): Promise<JsonText> {
    this.audit.note({ payment_id: id }, changed);
    return this.records.written(caller, PAYMENT, id);
  }
}
