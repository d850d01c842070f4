import { Module } from '@nestjs/common';
import { TeachingModule } from '@app/teaching';
import { HttpModule, listController } from '../../../http/kit.js';
import { QUESTION_WRITES } from './questions.controller.js';
import { QUESTIONS } from './questions.queries.js';

@Module({ imports: [HttpModule, TeachingModule], controllers: [listController(QUESTIONS), ...QUESTION_WRITES] })
export class QuestionsModule {}
