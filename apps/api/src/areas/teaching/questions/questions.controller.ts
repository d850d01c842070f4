import { Questions } from '@app/teaching';
import { inputOf, listController, writeController } from '../../../http/kit.js';
import { CreateQuestion } from './questions.dto.js';
import { QUESTIONS } from './questions.queries.js';

export const QUESTIONS_CONTROLLERS = [
  listController(QUESTIONS),
  writeController({
    id: 'create_question',
    route: 'POST /v1/questions',
    scope: 'coursework:write',
    summary: 'Adds a question of the organization’s own',
    example: { topic: 'Quadratics', intro_text: 'Complete the square: x² + 6x + 2.', tags: ['exam'], total_marks: 3 },
    body: CreateQuestion,
    rules: [Questions],
    answers: QUESTIONS,
    idName: 'question_id',
    run: ({ organizationId, body }, questions) => questions.add(organizationId, inputOf(body)),
  }),
];
