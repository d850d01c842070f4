import { field } from '../../../http/kit.js';

/** A question of the organization's own. */
export class CreateQuestion {
  @field.Text({ min: 1, max: 200, trim: true }, { required: true })
  topic: string;

  @field.Text({ max: 20_000 }, { nullable: true, description: 'What is asked.' })
  intro_text?: string | null;

  @field.Texts({ min: 1, max: 100 }, { max: 50 }, { default: [] })
  tags: string[] = [];

  @field.Integer(0, 1_000, { nullable: true })
  total_marks?: number | null;

  @field.Uuids(
    { max: 50 },
    { default: [], description: 'The levels for which it is meant, as your curriculum names them.' },
  )
  curriculum_level_ids: string[] = [];

  @field.OneOf(['own'], { default: 'own', description: 'Only the operator can add to catalogues.' })
  source = 'own' as const;
}
