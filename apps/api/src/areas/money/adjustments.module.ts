import { Module } from '@nestjs/common';
import sql from 'sql-template-tag';
import {
  cents, day, equals, field, flag, HttpModule, instant, like, type List, listController, nullable, rangeQuery,
  sinceDay, Source, text, untilDay, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const Between = rangeQuery({
  from: 'Only adjustments whose period starts on or after this ISO 8601 date.',
  to: 'Only adjustments whose period starts on or before this ISO 8601 date.',
});

export class ListAdjustments extends Between {
  @field.QueryUuid({ description: 'Only adjustments for this tutor (user id).' })
  tutor_id?: string;

  @field.QueryBoolean({ description: 'Include voided adjustments.', default: false })
  include_voided: boolean = false;
}

export const ADJUSTMENTS: List<ListAdjustments> = {
  id: 'list_adjustments',
  path: 'v1/adjustments',
  query: ListAdjustments,
  summary: 'Lists payroll adjustments, newest first',
  description: 'Manual credits and debits that are folded into payroll; a negative amount is a deduction.',
  view: new View('Adjustment', {
    id: uuid('a.id'),
    tutor_id: nullable(uuid('a.tutor_id')),
    period_start: like(nullable(day('a.period_start')), '2026-04-13'),
    period_end: like(nullable(day('a.period_end')), '2026-04-26'),
    amount_cents: nullable(cents('a.amount_cents')),
    note: nullable(text('a.note', 'Holiday loading')),
    voided: like(flag('a.voided'), false),
    created_at: nullable(instant('a.created_at')),
  }),
  source: new Source('adjustments', 'a'),
  select: ({ tutor_id, from, to, include_voided }) => ({
    filters: [
      equals('tutor_id', tutor_id),
      include_voided ? null : sql`NOT a.voided`,
      sinceDay('period_start', from),
      untilDay('period_start', to),
    ],
  }),
};

@Module({ imports: [HttpModule], controllers: [listController(ADJUSTMENTS)] })
export class AdjustmentsModule {}
