import { Uuid } from '../../http/validation/fields.js';

export class AddClassroomMember {
  @Uuid({ required: true, description: 'An accepted member of the organization.' })
  user_id: string;
}
