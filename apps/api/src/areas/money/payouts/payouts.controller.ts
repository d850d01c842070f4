import { Controller, Get } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, RequireScopes, ValidBody, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { TakeBack } from '../taking-back.js';
import { CreatePayout } from './payouts.dto.js';
import { EarningsQuery, PAYOUT } from './payouts.queries.js';
import { PayoutsService } from './payouts.service.js';
import { earningsShape } from './payouts.view.js';

@Controller('v1')
export class PayoutsController {
  constructor(private readonly payouts: PayoutsService) {}

  @Get('tutors/:tutor_id/earnings')
  @RequireScopes('read')
  @Documented({
    id: 'get_tutor_earnings',
    summary: 'Sums up what a tutor earned and was paid',
    description:
      'Earned: the pay of completed sessions, by their start, and adjustments that are not voided, by the first day of their ' +
      'period. Paid out: payouts of a session by its start, others by `paid_at`. Archived tutors have earnings too.',
    answer: one(earningsShape),
  })
  earnings(
    @CurrentCaller() caller: Caller,
    @PathId('tutor_id') id: string,
    @ValidQuery(EarningsQuery) query: EarningsQuery,
  ) {
    return this.payouts.earnings(caller, id, query);
  }

  @Post('payouts')
  @RequireScopes('payroll:write')
  @Documented({
    id: 'create_payout',
    summary: 'Records a payout to a tutor',
    description:
      'The money itself moves elsewhere. With a session it pays for that session, which must be completed and is paid once.',
    answer: one(PAYOUT.view),
    example: { tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', amount_cents: 7500 },
    conflicts: ['invalid_state'],
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreatePayout) body: CreatePayout) {
    return this.payouts.create(caller, body);
  }

  @Post('payouts/:payout_id/void', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'void_payout',
    summary: 'Takes back a payout that was entered by mistake',
    description:
      'Within 24 hours of recording it: it counts nowhere, and its session can be paid out again. Imported payouts are a 409. ' +
      'Again: unchanged.',
    answer: one(PAYOUT.view),
    example: { reason: 'Entered for the wrong tutor' },
    conflicts: ['invalid_state'],
  })
  void(@CurrentCaller() caller: Caller, @PathId('payout_id') id: string, @ValidBody(TakeBack) body: TakeBack) {
    return this.payouts.void(caller, id, body);
  }
}
