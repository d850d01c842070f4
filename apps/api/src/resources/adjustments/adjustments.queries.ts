import sql from 'sql-template-tag';
import { equals, sinceDay, untilDay } from '../../http/lists/filters.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import type { ListAdjustments } from './adjustments.dto.js';
import { adjustmentView } from './adjustments.view.js';

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
