import { Controller } from '@nestjs/common';
import { type Caller, CurrentCaller, Documented, one, Post, RequireScopes, ValidBody } from '../../../http/kit.js';
import { CreateQuestion } from './questions.dto.js';
import { QUESTIONS } from './questions.queries.js';
import { QuestionsService } from './questions.service.js';

@Controller('v1/questions')
export class QuestionsController {
  constructor(private readonly questions: QuestionsService) {}

  @Post()
  @RequireScopes('coursework:write')
  @Documented({
    id: 'create_question',
    summary: 'Adds a question of the organization’s own',
    answer: one(QUESTIONS.view),
    example: { topic: 'Quadratics', intro_text: 'Complete the square: x² + 6x + 2.', tags: ['exam'], total_marks: 3 },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateQuestion) body: CreateQuestion) {
    return this.questions.create(caller, body);
  }
}
