import { Area } from '../../http/kit.js';
import { ConversationsModule } from './conversations.module.js';
import { MessagesResourceModule } from './messages/messages.module.js';
import { OrgInboxModule } from './org-inbox.module.js';

/** Who writes to whom. */
@Area({
  imports: [ConversationsModule, MessagesResourceModule, OrgInboxModule],
  tags: {
    conversations: ['Conversations', 'Message threads and their messages.'],
    messages: ['Messages', 'Send messages.'],
    'org-inbox': ['Inbox', 'What was written to the organization itself.'],
  },
})
export class MessagesModule {}
