export { Inbox } from './inbox.js';
export { Messages, type NewMessage } from './messages.js';
export { MessagingModule } from './messaging.module.js';
