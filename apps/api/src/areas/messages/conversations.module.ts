import { Module } from '@nestjs/common';
import sql from 'sql-template-tag';
import {
  equals, field, HttpModule, instant, json, like, type List, listController, nullable, OffsetQuery, oneOf, Source,
  text, uuid, UUID, View,
} from '../../http/kit.js'; // prettier-ignore

const CONVERSATION_TYPES = ['direct', 'triad', 'group', 'classroom_feed'] as const;

/** PostgreSQL puts a line break between participants; ids and roles contain no whitespace. */
const PARTICIPANTS = `replace(o.participants::text, E', \\n ', ',')::json`;

export class ListConversations extends OffsetQuery {
  @field.QueryEnum(CONVERSATION_TYPES, { description: 'Only threads of this type.' })
  type?: string;
}

/**
 * Threads with an active participant who is an accepted member. organization_conversations lists them, with a copy of
 * the fields shown.
 */
export const CONVERSATIONS: List<ListConversations> = {
  id: 'list_conversations',
  path: 'v1/conversations',
  query: ListConversations,
  summary: 'Lists message threads, most recently active first',
  description:
    'A thread is listed if one of its active participants is an accepted member of the organization. ' +
    '`last_message_at` considers only messages with visibility `everyone`.',
  view: new View('Conversation', {
    id: uuid('o.conversation_id'),
    type: like(nullable(oneOf('o.type', CONVERSATION_TYPES)), 'classroom_feed'),
    classroom_id: nullable(uuid('o.classroom_id')),
    title: nullable(text('o.title', 'Year 11 Methods')),
    last_message_at: nullable(instant('o.last_message_at')),
    participants: json(PARTICIPANTS, {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          user_id: UUID,
          role: nullable(oneOf('', ['teacher', 'student', 'parent'])).schema,
        },
        required: ['user_id', 'role'],
        additionalProperties: false,
      },
    }),
    created_at: nullable(instant('o.created_at')),
    updated_at: nullable(instant('o.updated_at')),
  }),
  source: new Source('organization_conversations', 'o', { id: 'conversation_id' }),
  order: sql`o.last_message_at DESC NULLS LAST, o.conversation_id DESC`,
  select: ({ type }) => ({
    filters: [equals('type', type)],
  }),
};

@Module({ imports: [HttpModule], controllers: [listController(CONVERSATIONS)] })
export class ConversationsModule {}
