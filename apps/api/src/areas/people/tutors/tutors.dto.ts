import { field, ListQuery } from '../../../http/kit.js';
import { TutorFields } from '../people.dto.js';

export class ListTutors extends ListQuery {
  @field.QueryBoolean({ description: 'Only staff with a published profile, or only those without one.' })
  is_published?: boolean;
}

export class CreateTutor extends TutorFields {}
