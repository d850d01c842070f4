import { Module } from '@nestjs/common';
import { HttpModule } from '../../../http/kit.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';

@Module({ imports: [HttpModule], controllers: [SessionsController], providers: [SessionsService] })
export class SessionsModule {}
