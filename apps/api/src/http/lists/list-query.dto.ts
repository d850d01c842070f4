import { Fault } from '../validation/fault.js';
import { QueryDate, QueryInteger, QueryToken } from '../validation/fields.js';
import type { DateBound } from '@app/database';
import { isBefore } from './filters.js';
import { type Interdependent, TOGETHER } from '../validation/read-object.js';
import { CURSOR_FORM } from './cursor.js';

/** The maximum offset. PostgreSQL accepts more, but no list is that long, and the number stays exact. */
export const MOST_OFFSET = 2_147_483_647;

/** Paging by offset, for every list. */
export class OffsetQuery {
  @QueryInteger({ description: 'Page size.', min: 1, max: 100, default: 20 })
  limit: number = 20;

  @QueryInteger({
    description: 'Number of records to skip. Ignored in cursor mode, but still validated.',
    min: 0,
    max: MOST_OFFSET,
    default: 0,
  })
  offset: number = 0;
}

/** Paging by offset or by cursor, for lists whose order is (created_at, id). */
export class ListQuery extends OffsetQuery {
  @QueryToken(CURSOR_FORM, 'Must be "start" or the meta.next_cursor of the previous page.', {
    description:
      'Cursor mode: `start` begins with the newest record; pass `meta.next_cursor` to continue. Records added ' +
      'meanwhile cause no duplicates and no gaps.',
  })
  cursor?: string;
}

/** A list that is filtered by two dates; the descriptions say what they mean. */
export function rangeQuery(descriptions: { from: string; to: string }) {
  class RangeQuery extends ListQuery implements Interdependent {
    @QueryDate({ description: descriptions.from })
    from?: DateBound;

    @QueryDate({ description: descriptions.to })
    to?: DateBound;

    [TOGETHER](): Fault[] {
      if (!isBound(this.from) || !isBound(this.to) || !isBefore(this.to, this.from)) return [];
      return [new Fault('value_error', 'Must not be before "from".', ['to'])];
    }
  }
  return RangeQuery;
}

/** An invalid field holds its fault. */
function isBound(bound: DateBound | Fault | undefined): bound is DateBound {
  return bound !== undefined && !(bound instanceof Fault);
}
