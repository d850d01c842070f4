import { Uuid } from '../../http/validation/fields.js';
import { ParentFields } from '../../people/people.dto.js';

export class CreateParent extends ParentFields {}

export class LinkStudent {
  @Uuid({ required: true, description: 'A student of the organization.' })
  student_id: string;
}
