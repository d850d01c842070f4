import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { ConversationsController } from './conversations.controller.js';

@Module({ imports: [HttpModule], controllers: [ConversationsController] })
export class ConversationsModule {}
