import { ListQuery } from '../../http/lists/list-query.dto.js';
import { QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import { HOMEWORK_SCOPES, HOMEWORK_TYPES } from './homework.view.js';

export class ListHomework extends ListQuery {
  @QueryEnum(HOMEWORK_TYPES, { description: 'Only homework of this type.' })
  homework_type?: string;

  @QueryEnum(HOMEWORK_SCOPES, { description: 'Only homework set for a classroom, a group or a student.' })
  scope?: string;

  @QueryUuid({ description: 'Only homework assigned to this student.' })
  student_id?: string;
}
