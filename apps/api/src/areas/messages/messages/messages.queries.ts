import sql from 'sql-template-tag';
import { VALUES } from '@app/database';
import {
  instant, kinds, like, list, nullable, oneOf, parameter, type RecordDeclaration, type RecordSet, Source, text, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const { message_type, visibility } = VALUES.messages;

/** Not deleted, in a conversation that the organization sees. */
const THERE = sql`m.deleted_at IS NULL AND EXISTS (SELECT FROM organization_conversations o
  WHERE o.organization_id = m.organization_id AND o.conversation_id = m.conversation_id)`;

/** A message, whoever may read it: the answer to whoever sent it, and what is deleted. */
export const MESSAGE: RecordSet = {
  view: new View('Message', {
    id: uuid('m.id'),
    conversation_id: nullable(uuid('m.conversation_id')),
    sender_id: nullable(uuid('m.sender_id')),
    content: nullable(text('m.content', 'See you on Tuesday at four.')),
    message_type: nullable(oneOf('m.message_type', message_type)),
    visibility: nullable(oneOf('m.visibility', visibility)),
    reply_to_id: like(nullable(uuid('m.reply_to_id')), null),
    created_at: nullable(instant('m.created_at')),
  }),
  source: new Source('messages', 'm'),
  where: THERE,
};

/** Conversations that the organization sees. */
const CONVERSATIONS = new Source('organization_conversations', 'o', { id: 'conversation_id' });

export const MESSAGES = list({
  ...(MESSAGE as RecordSet & { source: Source }),
  id: 'list_messages',
  path: 'v1/conversations/:conversation_id/messages',
  summary: 'Lists the messages of a conversation, newest first',
  description:
    'Only messages that everyone in the conversation may read, and that were not deleted. In a conversation with people of ' +
    'several organizations, each organization reads what was written in its own name.',
  where: sql`m.visibility = 'everyone' AND m.deleted_at IS NULL`,
  sizes: { limit: 50, most: 100 },
  parameters: [
    parameter(
      'since',
      kinds.dateBound,
      "Created at or after this ISO 8601 date or date-time. A date is a day in the organization's time zone.",
      { column: 'created_at', comparison: 'since' },
    ),
  ],
  select: (_query, _caller, { conversation_id }) => ({
    filters: [sql`m.conversation_id = ${conversation_id}`],
    within: { source: CONVERSATIONS, where: sql`o.conversation_id = ${conversation_id}` },
  }),
});

/** One that everyone in a conversation may read that the organization sees. */
export const READABLE_MESSAGE: RecordDeclaration = {
  ...MESSAGE,
  id: 'get_message',
  path: 'v1/messages/:message_id',
  summary: 'Returns one message',
  description: 'A private or deleted message is a 404.',
  where: sql`m.visibility = 'everyone' AND ${THERE}`,
};
