import { field } from '../../../http/kit.js';

export class AddGroupMember {
  @field.Uuid({ required: true, description: 'An accepted member of the organization.' })
  user_id: string;
}
