import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import type { NewMessage } from '@app/messaging';
import { Fault, field, type Interdependent, TOGETHER } from '../../../http/kit.js';

const { visibility } = VALUES.messages;

/** A message to a conversation, or to a person. */
export class CreateMessage implements Interdependent {
  @field.bodyField(FIELDS.messages.content, { required: true })
  content: string;

  @field.Uuid({
    nullable: true,
    description:
      'An accepted owner or admin, or a tutor who takes part in `conversation_id` and is told by email. The first owner, if it is left out.',
  })
  sender_id?: string | null;

  @field.Uuid({ nullable: true, description: 'A conversation in which the sender takes part.' })
  conversation_id?: string | null;

  @field.Uuid({
    nullable: true,
    description: 'A member or a linked parent: opens or continues the one direct conversation with the sender.',
  })
  recipient_id?: string | null;

  @field.OneOf(visibility, { default: 'everyone', description: 'Who in the conversation may read it.' })
  visibility: NewMessage['visibility'] = 'everyone';

  @field.Uuid({ nullable: true, description: 'A message of the same conversation.' })
  reply_to_id?: string | null;

  [TOGETHER](): Fault[] {
    const { conversation_id, recipient_id } = this;
    if (conversation_id && recipient_id) {
      return [new Fault('value_error', 'Send either this or conversation_id.', ['recipient_id'])];
    }
    if (conversation_id || recipient_id) return [];
    return [new Fault('missing', 'Send one of: conversation_id, recipient_id.', ['conversation_id'])];
  }
}
