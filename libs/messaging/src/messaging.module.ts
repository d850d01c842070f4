import { Module } from '@nestjs/common';
import { Inbox } from './inbox.js';
import { Messages } from './messages.js';

const RULES = [Inbox, Messages];

@Module({ providers: RULES, exports: RULES })
export class MessagingModule {}
