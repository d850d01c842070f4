import { Module } from '@nestjs/common';
import { MessagingModule } from '@app/messaging';
import { HttpModule, listController } from '../../../http/kit.js';
import { MESSAGE_WRITES } from './messages.controller.js';
import { MESSAGES } from './messages.queries.js';

@Module({ imports: [HttpModule, MessagingModule], controllers: [listController(MESSAGES), ...MESSAGE_WRITES] })
export class MessagesResourceModule {}
