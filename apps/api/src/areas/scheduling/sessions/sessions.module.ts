import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { SchedulingModule } from '@app/scheduling';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { SessionsController } from './sessions.controller.js';
import { SESSION, SESSION_LIST } from './sessions.queries.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [HttpModule, BillingModule, SchedulingModule],
  controllers: [listController(SESSION_LIST), recordController(SESSION), SessionsController],
  providers: [SessionsService],
})
export class SessionsModule {}
