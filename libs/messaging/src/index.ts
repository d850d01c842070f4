export { type ConversationChange, Conversations, type NewConversation } from './conversations.js';
export { Inbox } from './inbox.js';
export { Messages, type NewMessage } from './messages.js';
export { MessagingModule } from './messaging.module.js';
