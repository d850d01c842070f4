import { Module } from '@nestjs/common';
import { HttpModule, listController } from '../../../http/kit.js';
import { QuestionsController } from './questions.controller.js';
import { QUESTIONS } from './questions.queries.js';
import { QuestionsService } from './questions.service.js';

@Module({
  imports: [HttpModule],
  controllers: [listController(QUESTIONS), QuestionsController],
  providers: [QuestionsService],
})
export class QuestionsModule {}
