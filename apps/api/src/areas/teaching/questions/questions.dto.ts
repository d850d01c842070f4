import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';

export const LEVELS = 'The levels of your own curriculum for which it is meant: any ids.';

/** A question of the organization's own. */
export class CreateQuestion {
  @field.bodyField(FIELDS.questions.topic, { required: true })
  topic: string;

  @field.bodyField(FIELDS.questions.intro_text, { nullable: true, description: 'What is asked.' })
  intro_text?: string | null;

  @field.bodyField(FIELDS.questions.tags, { default: [] })
  tags: string[] = [];

  @field.bodyField(FIELDS.questions.total_marks, { nullable: true })
  total_marks?: number | null;

  @field.bodyField(FIELDS.questions.curriculum_level_ids, {
    default: [],
    description: LEVELS,
  })
  curriculum_level_ids: string[] = [];

  @field.OneOf(['own'], { default: 'own', description: 'Only the operator can add to catalogues.' })
  source = 'own' as const;
}
