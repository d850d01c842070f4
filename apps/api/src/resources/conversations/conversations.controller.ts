import { Controller, Query } from '@nestjs/common';
import { CurrentCaller } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { ListRoute } from '../../http/openapi/operation.decorator.js';
import { CONVERSATIONS, ListConversations } from './conversations.queries.js';

@Controller('v1/conversations')
export class ConversationsController {
  constructor(private readonly lists: Lists) {}

  @ListRoute(CONVERSATIONS)
  list(@CurrentCaller() caller: Caller, @Query() query: ListConversations) {
    return this.lists.page(caller, CONVERSATIONS, query);
  }
}
