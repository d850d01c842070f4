import { Uuid } from '../../http/validation/fields.js';

export class AddGroupMember {
  @Uuid({ required: true, description: 'An accepted member of the organization.' })
  user_id: string;
}
