import type { RateRow } from '@app/billing';
import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { field, OrList } from '../../http/kit.js';

const { session_kind, tutor_pay_mode } = VALUES.rate_cells;
const { student_rate_cents, inperson_surcharge_cents, tutor_pay_pct, tutor_flat_rate_cents } = FIELDS.rate_cells;

export class RateCellRow implements RateRow {
  @field.Uuid({ nullable: true, description: 'Null fits all students.' })
  band_id?: string | null;

  @field.Uuid({ nullable: true, description: 'Null fits all tutors.' })
  tutor_tier_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'Its id or code. Null fits all subjects, and none.' })
  subject_id?: string | null;

  @field.OneOf(session_kind, { nullable: true })
  session_kind?: string | null;

  @field.bodyField(student_rate_cents, {
    nullable: true,
    description: 'What each student pays for an hour. Null bills nothing.',
  })
  student_rate_cents?: number | null;

  @field.bodyField(inperson_surcharge_cents, {
    nullable: true,
    description: 'What each pays once for a session in person.',
  })
  inperson_surcharge_cents?: number | null;

  @field.OneOf(tutor_pay_mode, { nullable: true, description: 'Null stays as it is: see `clear_pay`.' })
  tutor_pay_mode?: string | null;

  @field.bodyField(tutor_pay_pct, { nullable: true, description: 'With `percentage`: of what is billed.' })
  tutor_pay_pct?: number | null;

  @field.bodyField(tutor_flat_rate_cents, { nullable: true, description: 'With `flat`: for an hour.' })
  tutor_flat_rate_cents?: number | null;

  @field.Flag({ nullable: true, description: 'Whether what this row does not say of what tutors get becomes null.' })
  clear_pay?: boolean | null;
}

@OrList('rate_cells')
export class ReplaceRateCells {
  @field.Objects(
    RateCellRow,
    { max: 2000 },
    { required: true, description: 'The whole table; an empty list for none.' },
  )
  rate_cells: RateCellRow[];
}
