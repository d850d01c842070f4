import sql from 'sql-template-tag';
import { equals } from '../../http/lists/filters.js';
import { OffsetQuery } from '../../http/lists/list-query.dto.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import { QueryEnum } from '../../http/validation/fields.js';
import { CONVERSATION_TYPES, conversationView } from './conversations.view.js';

export class ListConversations extends OffsetQuery {
  @QueryEnum(CONVERSATION_TYPES, { description: 'Only threads of this type.' })
  type?: string;
}

/**
 * Threads with an active participant who is an accepted member. organization_conversations lists them, with a copy of
 * the fields shown.
 */
export const CONVERSATIONS: List<ListConversations> = {
  id: 'list_conversations',
  summary: 'Lists message threads, most recently active first',
  description:
    'A thread is listed if one of its active participants is an accepted member of the organization. ' +
    '`last_message_at` considers only messages with visibility `everyone`.',
  view: conversationView,
  source: new Source('organization_conversations', 'o', { id: 'conversation_id' }),
  order: sql`o.last_message_at DESC NULLS LAST, o.conversation_id DESC`,
  select: ({ type }) => ({
    filters: [equals('type', type)],
  }),
};
