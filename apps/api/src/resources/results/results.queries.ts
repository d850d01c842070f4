import { equals, since, until } from '../../http/lists/filters.js';
import { rangeQuery } from '../../http/lists/list-query.dto.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import { QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import { RESULT_MODES, RESULT_STATUSES, resultView } from './results.view.js';

const Between = rangeQuery({
  from: 'Completed at or after this ISO 8601 date or date-time.',
  to: 'Completed at or before this ISO 8601 date or date-time; a date includes the whole day.',
});

export class ListResults extends Between {
  @QueryUuid({ description: 'Only results of this student.' })
  student_id?: string;

  @QueryEnum(RESULT_STATUSES, { description: 'Only results in this state.' })
  status?: string;

  @QueryEnum(RESULT_MODES, { description: 'Only results of this mode.' })
  mode?: string;
}

/**
 * Results of students who have a session in the organization. organization_results lists them, with a copy of the
 * fields shown.
 */
export const RESULTS: List<ListResults> = {
  id: 'list_results',
  summary: 'Lists assessment results, newest first',
  description: 'Results of the organization’s students: those with a session in the organization.',
  view: resultView,
  source: new Source('organization_results', 'o', { id: 'result_id' }),
  select: ({ student_id, status, mode, from, to }) => ({
    filters: [
      equals('student_id', student_id),
      equals('status', status),
      equals('mode', mode),
      since('completed_at', from),
      until('completed_at', to),
    ],
  }),
};
