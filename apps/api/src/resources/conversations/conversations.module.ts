import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { ConversationsController } from './conversations.controller.js';
import { ConversationsService } from './conversations.service.js';

@Module({ imports: [HttpModule], controllers: [ConversationsController], providers: [ConversationsService] })
export class ConversationsModule {}
