import { equals } from '../../http/lists/filters.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import type { ListHomework } from './homework.dto.js';
import { homeworkView } from './homework.view.js';

export const HOMEWORK: List<ListHomework> = {
  id: 'list_homework',
  summary: 'Lists homework, newest first',
  description:
    'Homework belongs to the organization that was derived when it was set: of its classroom, else its group, else the ' +
    'tutor-student relation, else the only organization of its author.',
  view: homeworkView,
  source: new Source('homework', 'h'),
  select: ({ homework_type, scope, student_id }) => ({
    filters: [equals('homework_type', homework_type), equals('scope', scope), equals('student_id', student_id)],
  }),
};
