import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { ListConversations } from './conversations.dto.js';
import { ConversationsService } from './conversations.service.js';
import { conversationView } from './conversations.view.js';

@Controller('v1/conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_conversations',
    summary: 'Lists message threads, most recently active first',
    description:
      'A thread is listed when one of its active participants is an accepted member of the organization. ' +
      '`last_message_at` counts only messages with visibility `everyone`.',
    answer: page(conversationView),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListConversations) {
    return this.conversations.list(caller, query);
  }
}
