import { Messages } from '@app/messaging';
import { inputOf, listController, recordController, writeController } from '../../../http/kit.js';
import { CreateMessage } from './messages.dto.js';
import { MESSAGE, MESSAGES, READABLE_MESSAGE } from './messages.queries.js';

export const MESSAGES_CONTROLLERS = [
  listController(MESSAGES),
  recordController(READABLE_MESSAGE),
  writeController({
    id: 'create_message',
    route: 'POST /v1/messages',
    scope: 'messages:write',
    summary: 'Sends a message to a member, a linked parent or a conversation',
    description:
      'In the name of an owner or admin, or to a conversation of a tutor who takes part. Send exactly one of `conversation_id` and `recipient_id`. Two people have one ' +
      'direct conversation: the first message opens it, later ones continue it. A message with another `visibility` than ' +
      '`everyone` is not listed by the API.',
    example: { recipient_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', content: 'See you on Tuesday at four.' },
    body: CreateMessage,
    rules: [Messages],
    answers: MESSAGE,
    versions: MESSAGE,
    idName: 'message_id',
    conflicts: ['no_sender'],
    run: ({ organizationId, body }, messages) => {
      const { conversation_id: conversationId, recipient_id: recipientId } = body;
      const to = conversationId ? { conversationId } : { recipientId: recipientId! };
      return messages.send(organizationId, { ...inputOf(body), to });
    },
  }),
  writeController({
    id: 'remove_message',
    route: 'DELETE /v1/messages/:message_id',
    scope: ['messages:write', 'read'],
    summary: 'Deletes a message that was written in the organization’s name',
    description: 'It is not listed any more, and counts no more in `last_message_at`.',
    rules: [Messages],
    answers: null,
    versions: MESSAGE,
    run: ({ organizationId, ids }, messages) => messages.remove(organizationId, ids.message_id),
  }),
];
