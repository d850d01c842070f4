import { field } from '../../../http/kit.js';

export class AddClassroomMember {
  @field.Uuid({ required: true, description: 'An accepted member of the organization.' })
  user_id: string;
}
