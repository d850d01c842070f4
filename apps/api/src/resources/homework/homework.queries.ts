import { equals } from '../../http/lists/filters.js';
import { ListQuery } from '../../http/lists/list-query.dto.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import { QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import { HOMEWORK_SCOPES, HOMEWORK_TYPES, homeworkView } from './homework.view.js';

export class ListHomework extends ListQuery {
  @QueryEnum(HOMEWORK_TYPES, { description: 'Only homework of this type.' })
  homework_type?: string;

  @QueryEnum(HOMEWORK_SCOPES, { description: 'Only homework set for a classroom, a group or a student.' })
  scope?: string;

  @QueryUuid({ description: 'Only homework assigned to this student.' })
  student_id?: string;
}

export const HOMEWORK: List<ListHomework> = {
  id: 'list_homework',
  summary: 'Lists homework, newest first',
  description:
    'Each homework belongs to the organization derived when it was set: that of its classroom, otherwise of ' +
    'its group, otherwise of the tutor-student relation, otherwise the only organization of its author.',
  view: homeworkView,
  source: new Source('homework', 'h'),
  select: ({ homework_type, scope, student_id }) => ({
    filters: [equals('homework_type', homework_type), equals('scope', scope), equals('student_id', student_id)],
  }),
};
