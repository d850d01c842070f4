import { VALUES } from '@app/database';
import { field } from '../../../http/kit.js';

export class AddClassroomMember {
  @field.Uuid({ required: true, description: 'An accepted member of the organization.' })
  user_id: string;
}

export class CreateClassroom {
  @field.Text({ min: 1, max: 200, trim: true }, { required: true })
  name: string;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner, who becomes its teacher.' })
  tutor_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'Id or code.' })
  subject_id?: string | null;

  @field.Cents(0, 1_000_000_000_000, { nullable: true })
  price_cents?: number | null;

  @field.OneOf(VALUES.classrooms.billing_interval, { nullable: true, description: 'What `price_cents` is for.' })
  billing_interval?: (typeof VALUES.classrooms.billing_interval)[number] | null;
}
