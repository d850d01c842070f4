import { field } from '../../../http/kit.js';
import { BilledPerson, ParentFields } from '../people.dto.js';

export class CreateParent extends ParentFields {}

/** Omitted fields stay unchanged. */
export class UpdateParent extends BilledPerson {}

export class LinkStudent {
  @field.Uuid({ required: true, description: 'A student of the organization.' })
  student_id: string;
}
