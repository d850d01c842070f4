import { Injectable } from '@nestjs/common';
import { TakenBackNotices } from '@app/accounts';
import { Earnings, Payouts } from '@app/billing';
import { Refused } from '@app/rules';
import { Audit, type Caller, type JsonText, periodOf, Records } from '../../../http/kit.js';
import type { TakeBack } from '../taking-back.js';
import type { CreatePayout } from './payouts.dto.js';
import { type EarningsQuery, PAYOUT } from './payouts.queries.js';

@Injectable()
export class PayoutsService {
  constructor(
    private readonly records: Records,
    private readonly payouts: Payouts,
    private readonly sums: Earnings,
    private readonly notices: TakenBackNotices,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for nobody of the staff */
  async earnings(caller: Caller, tutorId: string, query: EarningsQuery) {
    const period = periodOf(query, caller);
    const [sums] = await this.sums.sums(caller, [period], tutorId);
    if (!sums) throw Refused.notFound();
    const { sessions, earnedCents, paidOutCents } = sums;
    return {
      tutor_id: tutorId,
      sessions_count: sessions,
      period_start: period.firstDay,
      period_end: period.lastDay,
      earned_cents: earnedCents,
      paid_out_cents: paidOutCents,
      unpaid_cents: earnedCents - paidOutCents,
    };
  }

  async create(caller: Caller, body: CreatePayout): Promise<JsonText> {
    const { tutor_id: tutorId, amount_cents: amountCents, session_id: sessionId = null, paid_at: paidAt } = body;
    const { currency } = caller.organization;
    const payout = { tutorId, amountCents, currency, sessionId, paidAt: paidAt ?? new Date() };
    const id = await this.payouts.record(caller.organizationId, payout);
    return this.written(caller, id);
  }

  async void(caller: Caller, id: string, { reason }: TakeBack): Promise<JsonText> {
    const voided = await this.payouts.void(caller.organizationId, id, reason);
    if (voided) await this.notices.tell(caller.organizationId);
    return this.written(caller, id, voided);
  }

  private written(caller: Caller, id: string, changed = true): Promise<JsonText> {
    this.audit.note({ payout_id: id }, changed);
    return this.records.written(caller, PAYOUT, id);
  }
}
