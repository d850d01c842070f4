import { field } from '../../../http/kit.js';
import { ParentFields } from '../people.dto.js';

export class CreateParent extends ParentFields {}

export class LinkStudent {
  @field.Uuid({ required: true, description: 'A student of the organization.' })
  student_id: string;
}
