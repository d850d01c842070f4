import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { LessonParticipantsController } from './lesson-participants.controller.js';
import { PARTICIPANT, PARTICIPANTS } from './lesson-participants.queries.js';
import { LessonParticipantsService } from './lesson-participants.service.js';

@Module({
  imports: [HttpModule, BillingModule],
  controllers: [listController(PARTICIPANTS), recordController(PARTICIPANT), LessonParticipantsController],
  providers: [LessonParticipantsService],
})
export class LessonParticipantsModule {}
