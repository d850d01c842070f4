import { MessagingModule } from '@app/messaging';
import { Area, HttpModule } from '../../http/kit.js';
import { CONVERSATIONS_CONTROLLERS } from './conversations.controller.js';
import { MESSAGES_CONTROLLERS } from './messages/messages.controller.js';
import { ORG_INBOX_CONTROLLERS } from './org-inbox.controller.js';

/** Who writes to whom. */
@Area({
  imports: [HttpModule, MessagingModule],
  controllers: [...CONVERSATIONS_CONTROLLERS, ...MESSAGES_CONTROLLERS, ...ORG_INBOX_CONTROLLERS],
  tags: {
    conversations: ['Conversations', 'Message threads and their messages.'],
    messages: ['Messages', 'Send messages.'],
    'org-inbox': ['Inbox', 'What was written to the organization itself.'],
  },
})
export class MessagesModule {}
