import sql from 'sql-template-tag';
import { equals, sinceDay, untilDay } from '../../http/lists/filters.js';
import { rangeQuery } from '../../http/lists/list-query.dto.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import { QueryBoolean, QueryUuid } from '../../http/validation/fields.js';
import { adjustmentView } from './adjustments.view.js';

const Between = rangeQuery({
  from: 'The period starts on or after this ISO 8601 date.',
  to: 'The period starts on or before this ISO 8601 date.',
});

export class ListAdjustments extends Between {
  @QueryUuid({ description: 'Only adjustments for this tutor (user id).' })
  tutor_id?: string;

  @QueryBoolean({ description: 'Include voided adjustments.', default: false })
  include_voided: boolean = false;
}

export const ADJUSTMENTS: List<ListAdjustments> = {
  id: 'list_adjustments',
  summary: 'Lists payroll adjustments, newest first',
  description: 'Manual credits and debits that are folded into payroll; a negative amount is a deduction.',
  view: adjustmentView,
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
