import {
  between, byId, cents, flag, instant, like, list, nullable, queryOf, type RecordDeclaration, Source, text, toggle, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

export const PAYOUTS = list({
  id: 'list_payouts',
  path: 'v1/payouts',
  summary: 'Lists payouts to tutors, newest first',
  description: 'The order is that in which they were recorded; `from` and `to` compare `paid_at`.',
  view: new View('Payout', {
    id: uuid('p.id'),
    tutor_id: nullable(uuid('p.tutor_id')),
    session_id: nullable(uuid('p.session_id')),
    amount_cents: nullable(cents('p.amount_cents')),
    currency: nullable(text('p.currency', 'AUD')),
    is_group: like(nullable(flag('p.is_group')), false),
    paid_at: nullable(instant('p.paid_at')),
    created_at: nullable(instant('p.created_at')),
    voided_at: like(nullable(instant('p.taken_back_at')), null),
    void_reason: like(nullable(text('p.void_reason', 'Entered for the wrong tutor')), null),
  }),
  source: new Source('payouts', 'p'),
  parameters: [
    byId('tutor_id', 'Only payouts to this tutor (user id).'),
    toggle('include_voided', 'Include payouts that were taken back.', { without: 'taken_back' }),
    ...between('paid_at', {
      from: 'Paid at or after this ISO 8601 date or date-time.',
      to: 'Paid at or before this ISO 8601 date or date-time; a date includes the whole day.',
    }),
  ],
});

export const PAYOUT: RecordDeclaration = {
  id: 'get_payout',
  path: 'v1/payouts/:payout_id',
  summary: 'Returns one payout',
  view: PAYOUTS.view,
  source: PAYOUTS.source,
};

export class EarningsQuery extends queryOf([
  ...between('starts_at', {
    from: 'Only what was earned at or after this ISO 8601 date or date-time.',
    to: 'Only what was earned at or before this ISO 8601 date or date-time; a date includes the whole day.',
  }),
]) {}
