import { Questions, QUESTIONS as KIND } from '@app/teaching';
import { inputOf, listController, rows, writeController } from '../../../http/kit.js';
import { CreateQuestion, LEVELS } from './questions.dto.js';
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
    versions: QUESTIONS,
    idName: 'question_id',
    run: ({ organizationId, body }, questions) => questions.add(organizationId, inputOf(body)),
  }),
  ...rows({
    path: 'questions/:question_id',
    noun: 'question',
    kind: KIND,
    scope: 'coursework:write',
    shown: QUESTIONS,
    fields: {
      topic: {},
      intro_text: { nullable: true },
      tags: {},
      total_marks: { nullable: true },
      curriculum_level_ids: { description: LEVELS },
    },
    examples: { create: {}, change: { total_marks: 4 } },
    notes: { change: 'A question of a catalogue is a 404.', remove: 'A question of a catalogue is a 404.' },
    without: ['create'],
  }),
];
