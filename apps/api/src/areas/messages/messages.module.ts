import { Area } from '../../http/kit.js';
import { ConversationsModule } from './conversations.module.js';

/** Who writes to whom. */
@Area({
  imports: [ConversationsModule],
  tags: {
    conversations: ['Conversations', 'Message threads, without their messages.'],
  },
})
export class MessagesModule {}
