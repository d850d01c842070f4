import { instant, json, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const CONVERSATION_TYPES = ['direct', 'triad', 'group', 'classroom_feed'] as const;

const ACTIVE_PARTICIPANTS = `(SELECT coalesce(json_agg(p), '[]') FROM (SELECT a.user_id, a.role
  FROM conversation_participants a WHERE a.conversation_id = c.id AND a.left_at IS NULL ORDER BY a.joined_at, a.id) p)`;

export const conversationView = new View('Conversation', {
  id: uuid('c.id'),
  type: nullable(oneOf('c.type', CONVERSATION_TYPES)),
  classroom_id: nullable(uuid('c.classroom_id')),
  title: nullable(text('c.title', 'Year 11 Methods')),
  last_message_at: nullable(instant('c.last_message_at')),
  participants: json(ACTIVE_PARTICIPANTS, {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        user_id: uuid('').schema,
        role: nullable(oneOf('', ['tutor', 'student', 'parent', 'admin'])).schema,
      },
      required: ['user_id', 'role'],
      additionalProperties: false,
    },
  }),
  created_at: nullable(instant('c.created_at')),
  updated_at: nullable(instant('c.updated_at')),
});
