import { ListQuery } from '../../http/lists/list-query.dto.js';
import { QueryDate, QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import type { DateBound } from '../../http/validation/parsers.js';
import { RESULT_MODES, RESULT_STATUSES } from './results.view.js';

export class ListResults extends ListQuery {
  @QueryUuid({ description: 'Only results of this student.' })
  student_id?: string;

  @QueryEnum(RESULT_STATUSES, { description: 'Only results in this state.' })
  status?: string;

  @QueryEnum(RESULT_MODES, { description: 'Only results of this mode.' })
  mode?: string;

  @QueryDate({ description: 'Completed at or after this ISO 8601 date or date-time.' })
  from?: DateBound;

  @QueryDate({ description: 'Completed at or before this ISO 8601 date or date-time; a date counts whole.' })
  to?: DateBound;
}
