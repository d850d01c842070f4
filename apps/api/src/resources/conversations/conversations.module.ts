import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { CONVERSATIONS } from './conversations.queries.js';

@Module({ imports: [HttpModule], controllers: [listController(CONVERSATIONS)] })
export class ConversationsModule {}
