import { QueryInteger, QueryToken } from '../validation/fields.js';
import { CURSOR_FORM } from './cursor.js';

/** The largest offset: PostgreSQL takes more, but nobody has so many rows, and a number stays exact. */
export const MOST_OFFSET = 2_147_483_647;

/** Paging by offset, for every list. */
export class OffsetQuery {
  @QueryInteger({ description: 'Page size.', min: 1, max: 100, default: 20 })
  limit: number = 20;

  @QueryInteger({ description: 'Records to skip. Ignored in cursor mode.', min: 0, max: MOST_OFFSET, default: 0 })
  offset: number = 0;
}

/** Paging by offset or by cursor, for lists whose order is (created_at, id). */
export class ListQuery extends OffsetQuery {
  @QueryToken(CURSOR_FORM, 'Give "start", or the meta.next_cursor of the page before.', {
    description:
      'Cursor mode: `start` begins at the newest record, a `meta.next_cursor` goes on from there. Rows that are inserted ' +
      'meanwhile neither repeat nor hide a record.',
  })
  cursor?: string;
}
