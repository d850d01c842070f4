import { OffsetQuery } from '../../http/lists/list-query.dto.js';
import { QueryEnum } from '../../http/validation/fields.js';
import { CONVERSATION_TYPES } from './conversations.view.js';

export class ListConversations extends OffsetQuery {
  @QueryEnum(CONVERSATION_TYPES, { description: 'Only threads of this type.' })
  type?: string;
}
