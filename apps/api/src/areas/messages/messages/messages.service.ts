import { Injectable } from '@nestjs/common';
import { Messages } from '@app/messaging';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import type { CreateMessage } from './messages.dto.js';
import { MESSAGE } from './messages.queries.js';

@Injectable()
export class MessagesService {
  constructor(
    private readonly records: Records,
    private readonly messages: Messages,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, body: CreateMessage): Promise<JsonText> {
    const id = await this.messages.send(caller.organizationId, {
      content: body.content,
      senderId: body.sender_id ?? null,
      to: body.conversation_id ? { conversationId: body.conversation_id } : { recipientId: body.recipient_id! },
      visibility: body.visibility,
      replyToId: body.reply_to_id ?? null,
    });
    this.audit.note({ message_id: id });
    return this.records.written(caller, MESSAGE, id);
  }
}
