import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';

export class AddGroupMember {
  @field.Uuid({ required: true, description: 'An accepted member of the organization.' })
  user_id: string;
}

export class CreateGroup {
  @field.bodyField(FIELDS.student_groups.name, { required: true })
  name: string;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner.' })
  tutor_id?: string | null;

  @field.Uuid({ nullable: true })
  classroom_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'Id or code.' })
  subject_id?: string | null;

  @field.bodyField(FIELDS.student_groups.rate_per_student_cents, {
    nullable: true,
    description: 'For an hour, instead of the students’ own rates.',
  })
  rate_per_student_cents?: number | null;

  @field.bodyField(FIELDS.student_groups.color, { nullable: true })
  color?: string | null;

  @field.Uuids({ max: 100 }, { default: [], description: 'Accepted students.' })
  student_ids: string[] = [];
}

/** Omitted fields stay unchanged. */
export class UpdateGroup {
  @field.bodyField(FIELDS.student_groups.name)
  name?: string;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner, who leads it from now on.' })
  tutor_id?: string | null;

  @field.Uuid({ nullable: true })
  classroom_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'Id or code.' })
  subject_id?: string | null;

  @field.bodyField(FIELDS.student_groups.rate_per_student_cents, { nullable: true })
  rate_per_student_cents?: number | null;

  @field.bodyField(FIELDS.student_groups.color, { nullable: true })
  color?: string | null;

  @field.bodyField(FIELDS.student_groups.avatar_url, { nullable: true })
  avatar_url?: string | null;

  @field.Flag()
  is_archived?: boolean;
}
