import { Controller } from '@nestjs/common';
import { type Caller, CurrentCaller, Documented, one, Post, RequireScopes, ValidBody } from '../../../http/kit.js';
import { CreateMessage } from './messages.dto.js';
import { MESSAGE } from './messages.queries.js';
import { MessagesService } from './messages.service.js';

@Controller('v1/messages')
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Post()
  @RequireScopes('messages:write')
  @Documented({
    id: 'create_message',
    summary: 'Sends a message to a member, a linked parent or a conversation',
    description:
      'In the name of an owner or admin. Send exactly one of `conversation_id` and `recipient_id`. Two people have one ' +
      'direct conversation: the first message opens it, later ones continue it. A message with another `visibility` than ' +
      '`everyone` is not listed by the API.',
    answer: one(MESSAGE.view),
    example: { recipient_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', content: 'See you on Tuesday at four.' },
    conflicts: ['no_sender'],
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateMessage) body: CreateMessage) {
    return this.messages.create(caller, body);
  }
}
