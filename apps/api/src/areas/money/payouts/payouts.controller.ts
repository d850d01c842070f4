import { Earnings, Payouts } from '@app/billing';
import { Refused } from '@app/rules';
import {
  inputOf,
  listController,
  one,
  periodOf,
  readController,
  recordController,
  writeController,
} from '../../../http/kit.js';
import { TakeBack } from '../taking-back.js';
import { CreatePayout } from './payouts.dto.js';
import { EarningsQuery, PAYOUT, PAYOUTS } from './payouts.queries.js';
import { earningsShape } from './payouts.view.js';

const EARNINGS = readController({
  id: 'get_tutor_earnings',
  path: 'v1/tutors/:tutor_id/earnings',
  summary: 'Sums up what a tutor earned and was paid',
  description:
    'Earned: the pay of completed sessions, by their start, and adjustments that are not voided, by the first day of their ' +
    'period. Paid out: payouts of a session by its start, others by `paid_at`. Archived tutors have earnings too.',
  query: EarningsQuery,
  answer: one(earningsShape),
  rules: [Earnings],
  async run({ caller, ids, query }, earnings) {
    const period = periodOf(query, caller);
    const [sums] = await earnings.sums(caller, [period], ids.tutor_id);
    if (!sums) throw Refused.notFound();
    const { sessions, earnedCents, paidOutCents } = sums;
    return {
      tutor_id: ids.tutor_id,
      sessions_count: sessions,
      period_start: period.firstDay,
      period_end: period.lastDay,
      earned_cents: earnedCents,
      paid_out_cents: paidOutCents,
      unpaid_cents: earnedCents - paidOutCents,
    };
  },
});

export const PAYOUTS_CONTROLLERS = [
  listController(PAYOUTS),
  recordController(PAYOUT),
  EARNINGS,
  writeController({
    id: 'create_payout',
    route: 'POST /v1/payouts',
    scope: 'payroll:write',
    summary: 'Records a payout to a tutor',
    description:
      'The money itself moves elsewhere. With a session it pays for that session, which must be completed and is paid once.',
    example: { tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', amount_cents: 7500 },
    body: CreatePayout,
    rules: [Payouts],
    answers: PAYOUT,
    versions: PAYOUT,
    idName: 'payout_id',
    conflicts: ['invalid_state'],
    run: ({ organizationId, body }, payouts) =>
      payouts.record(organizationId, { ...inputOf(body), paidAt: body.paid_at ?? new Date() }),
  }),
  writeController({
    id: 'void_payout',
    route: 'POST /v1/payouts/:payout_id/void',
    status: 200,
    scope: 'payroll:write',
    summary: 'Takes back a payout that was entered by mistake',
    description:
      'Within 24 hours of recording it: it counts nowhere, and its session can be paid out again. Imported payouts are a 409. ' +
      'Again: unchanged; for another reason, a 409.',
    example: { reason: 'Entered for the wrong tutor' },
    body: TakeBack,
    rules: [Payouts],
    answers: PAYOUT,
    versions: PAYOUT,
    conflicts: ['invalid_state'],
    run: ({ organizationId, ids, body }, payouts) => payouts.void(organizationId, ids.payout_id, body.reason),
  }),
];
