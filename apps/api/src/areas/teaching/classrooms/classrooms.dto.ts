import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';

export class AddClassroomMember {
  @field.Uuid({ required: true, description: 'An accepted member of the organization.' })
  user_id: string;
}

export class CreateClassroom {
  @field.bodyField(FIELDS.classrooms.name, { required: true })
  name: string;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner, who becomes its teacher.' })
  tutor_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'Id or code.' })
  subject_id?: string | null;

  @field.bodyField(FIELDS.classrooms.price_cents, { nullable: true })
  price_cents?: number | null;

  @field.OneOf(VALUES.classrooms.billing_interval, {
    nullable: true,
    description: 'What `price_cents` is for; needed with it.',
  })
  billing_interval?: (typeof VALUES.classrooms.billing_interval)[number] | null;
}

/** Omitted fields stay unchanged. */
export class UpdateClassroom {
  @field.bodyField(FIELDS.classrooms.name)
  name?: string;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner, who leads it from now on.' })
  tutor_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'Id or code.' })
  subject_id?: string | null;

  @field.bodyField(FIELDS.classrooms.price_cents, { nullable: true })
  price_cents?: number | null;

  @field.OneOf(VALUES.classrooms.billing_interval, {
    nullable: true,
    description: 'What `price_cents` is for; needed with it.',
  })
  billing_interval?: (typeof VALUES.classrooms.billing_interval)[number] | null;

  @field.Flag()
  is_archived?: boolean;
}
