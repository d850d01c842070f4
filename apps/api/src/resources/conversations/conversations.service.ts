import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Source } from '../../http/lists/source.js';
import type { ListConversations } from './conversations.dto.js';
import { conversationView } from './conversations.view.js';

const CONVERSATIONS = new Source('organization_conversations', 'o', { id: 'conversation_id' });

/**
 * Threads with an active participant who is an accepted member: organization_conversations lists them, with a copy of
 * what is shown.
 */
@Injectable()
export class ConversationsService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListConversations): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: conversationView,
        source: CONVERSATIONS,
        filters: [equals('o.type', query.type)],
        order: sql`o.last_message_at DESC NULLS LAST, o.conversation_id DESC`,
      },
      query,
    );
  }
}
