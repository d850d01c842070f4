import { ListQuery } from '../../http/lists/list-query.dto.js';
import { QueryBoolean } from '../../http/validation/fields.js';
import { TutorFields } from '../../people/people.dto.js';

export class ListTutors extends ListQuery {
  @QueryBoolean({ description: 'Only staff with a published profile, or only those without one.' })
  is_published?: boolean;
}

export class CreateTutor extends TutorFields {}
