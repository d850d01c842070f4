import { Module } from '@nestjs/common';
import { JobsModule } from '@app/jobs';
import { Conversations } from './conversations.js';
import { Inbox } from './inbox.js';
import { Messages } from './messages.js';

const RULES = [Conversations, Inbox, Messages];

@Module({ imports: [JobsModule], providers: RULES, exports: RULES })
export class MessagingModule {}
