import { rangeQuery } from '../../http/lists/list-query.dto.js';
import { QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import { RESULT_MODES, RESULT_STATUSES } from './results.view.js';

const Between = rangeQuery({
  from: 'Completed at or after this ISO 8601 date or date-time.',
  to: 'Completed at or before this ISO 8601 date or date-time; a date counts whole.',
});

export class ListResults extends Between {
  @QueryUuid({ description: 'Only results of this student.' })
  student_id?: string;

  @QueryEnum(RESULT_STATUSES, { description: 'Only results in this state.' })
  status?: string;

  @QueryEnum(RESULT_MODES, { description: 'Only results of this mode.' })
  mode?: string;
}
