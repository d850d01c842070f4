import { instant, json, like, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { UUID } from '../../http/views/schemas.js';
import { View } from '../../http/views/view.js';

export const CONVERSATION_TYPES = ['direct', 'triad', 'group', 'classroom_feed'] as const;

/** PostgreSQL puts a line break between participants; ids and roles contain no whitespace. */
const PARTICIPANTS = `replace(o.participants::text, E', \\n ', ',')::json`;

/** Needs organization_conversations as `o`. */
export const conversationView = new View('Conversation', {
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
        role: nullable(oneOf('', ['tutor', 'student', 'parent', 'admin'])).schema,
      },
      required: ['user_id', 'role'],
      additionalProperties: false,
    },
  }),
  created_at: nullable(instant('o.created_at')),
  updated_at: nullable(instant('o.updated_at')),
});
