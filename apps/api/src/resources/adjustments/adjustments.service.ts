import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { equals, sinceDay, untilDay } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Source } from '../../http/lists/source.js';
import type { ListAdjustments } from './adjustments.dto.js';
import { adjustmentView } from './adjustments.view.js';

const ADJUSTMENTS = new Source('adjustments', 'a');

@Injectable()
export class AdjustmentsService {
  constructor(private readonly lists: Lists) {}

  listAdjustments(caller: Caller, query: ListAdjustments): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: adjustmentView,
        source: ADJUSTMENTS,
        filters: [
          equals('a.tutor_id', query.tutor_id),
          query.include_voided ? null : sql`NOT a.voided`,
          sinceDay('a.period_start', query.from),
          untilDay('a.period_start', query.to),
        ],
      },
      query,
    );
  }
}
