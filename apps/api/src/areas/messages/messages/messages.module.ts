import { Module } from '@nestjs/common';
import { MessagingModule } from '@app/messaging';
import { HttpModule, listController } from '../../../http/kit.js';
import { MessagesController } from './messages.controller.js';
import { MESSAGES } from './messages.queries.js';
import { MessagesService } from './messages.service.js';

@Module({
  imports: [HttpModule, MessagingModule],
  controllers: [listController(MESSAGES), MessagesController],
  providers: [MessagesService],
})
export class MessagesResourceModule {}
