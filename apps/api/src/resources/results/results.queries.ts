import { equals, since, until } from '../../http/lists/filters.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import type { ListResults } from './results.dto.js';
import { resultView } from './results.view.js';

/**
 * Results of students who have a session in the organization: organization_results lists them, with a copy of what is
 * shown.
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
