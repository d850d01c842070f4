import sql from 'sql-template-tag';
import { VALUES } from '@app/database';
import {
  byValue, instant, json, like, list, listController, nullable, objectOf, oneOf, Source, text, UUID, uuid,
  View,
} from '../../http/kit.js'; // prettier-ignore

/** PostgreSQL puts a line break between participants; ids and roles contain no whitespace. */
const PARTICIPANTS = `replace(o.participants::text, E', \\n ', ',')::json`;

/** Threads with an active participant who is an accepted member, with a copy of the fields shown. */
const CONVERSATIONS = list({
  id: 'list_conversations',
  path: 'v1/conversations',
  summary: 'Lists message threads, most recently active first',
  description:
    'A thread is listed if one of its active participants is an accepted member of the organization. ' +
    '`last_message_at` considers only messages with visibility `everyone`.',
  view: new View('Conversation', {
    id: uuid('o.conversation_id'),
    type: like(nullable(oneOf('o.type', VALUES.conversations.type)), 'classroom_feed'),
    classroom_id: nullable(uuid('o.classroom_id')),
    title: nullable(text('o.title', 'Year 11 Methods')),
    last_message_at: nullable(instant('o.last_message_at')),
    participants: json(PARTICIPANTS, {
      type: 'array',
      items: objectOf({
        user_id: UUID,
        role: nullable(oneOf('', VALUES.conversation_participants.role)).schema,
      }),
    }),
    created_at: nullable(instant('o.created_at')),
    updated_at: nullable(instant('o.updated_at')),
  }),
  source: new Source('organization_conversations', 'o', { id: 'conversation_id' }),
  order: sql`o.last_message_at DESC NULLS LAST, o.conversation_id DESC`,
  parameters: [byValue('type', VALUES.conversations.type, 'Only threads of this type.')],
});

export const CONVERSATIONS_CONTROLLERS = [listController(CONVERSATIONS)];
